#!/bin/sh
# Starts nginx, which gets the arguments, and gives its access log a new file when it has grown: nginx itself never does. The old one
# stays beside it until the next time, so that the collector reads it to its end.
set -eu
log=${ACCESS_LOG:-/var/log/nginx/access.json.log}
max_bytes=${ACCESS_LOG_MAX_BYTES:-16777216}

rotate() {
  while sleep "${ACCESS_LOG_LOOK_SECONDS:-10}" && kill -0 $$ 2>/dev/null; do
    size=$(wc -c <"$log" 2>/dev/null || echo 0)
    if [ "$size" -ge "$max_bytes" ]; then
      mv "$log" "$log.1"
      # The shell became nginx's master: it reopens its files.
      kill -USR1 $$
    fi
  done
}
rotate &
exec nginx -g 'daemon off;' "$@"
