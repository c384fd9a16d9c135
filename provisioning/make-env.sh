#!/bin/sh
# Writes .env with fresh secrets from .env.example. Never overwrites one: the database keeps the passwords of its first start.
set -eu
cd "$(dirname "$0")/.."
umask 077

if [ -e .env ]; then
  echo '.env exists already; delete it (and the volume of the database) to start over' >&2
  exit 1
fi

# Hex digits are safe in a URL, in YAML and in a shell.
secret() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

# An empty value after the sign is a secret to be made up; every other line is copied.
while IFS= read -r line || [ -n "$line" ]; do
  case $line in
    [A-Z]*=) printf '%s%s\n' "$line" "$(secret)" ;;
    *) printf '%s\n' "$line" ;;
  esac
done <.env.example >.env.new
mv .env.new .env
echo 'wrote .env'
