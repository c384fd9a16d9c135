#!/bin/sh
# Runs once, when the database's volume is new. The schema's migration grants this role its rights; here it gets its password.
# To change it later: ALTER ROLE grafana_reader PASSWORD '…'.
set -eu

# psql quotes :'password' itself, so any character is safe; it does not expand variables in -c, hence the standard input.
psql --set ON_ERROR_STOP=1 --set password="${GRAFANA_PG_PASSWORD:?}" --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
CREATE ROLE grafana_reader LOGIN PASSWORD :'password';
-- A dashboard with a long time range must neither write nor hold up the ingest.
ALTER ROLE grafana_reader SET default_transaction_read_only = on;
ALTER ROLE grafana_reader SET statement_timeout = '30s';
SQL
