#!/bin/sh
# Runs once, when the database's volume is new. The role of the simulated backend (profile demo): it owns nothing and may read
# nothing, it only asks for time. Its statements are logged however fast they are, with the comment that names their request.
set -eu

psql --set ON_ERROR_STOP=1 --set password="${DEMO_PG_PASSWORD:?}" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE demo_app LOGIN PASSWORD :'password' CONNECTION LIMIT 20;
ALTER ROLE demo_app SET log_min_duration_statement = 0;
ALTER ROLE demo_app SET statement_timeout = '30s';
SQL
