/** A variable that the service reads at its start. What it must be, config.ts says; docs/configuration.md is made of both. */
export interface Variable {
  /** As if it were set so; null: unset means something of its own. */
  readonly standard: string | null;
  /** In Markdown. */
  readonly about: string;
}

const unset = (about: string): Variable => ({ standard: null, about });
const by = (standard: string, about: string): Variable => ({ standard, about });

/** Every variable, in the order of the document. */
export const VARIABLES = {
  HOST: by('127.0.0.1', 'where the public port listens; other than loopback only with `INGEST_TOKEN`'),
  PORT: by('8080', 'public port; 0 takes a free one'),
  ADMIN_HOST: by('127.0.0.1', 'where the admin port listens; it asks for no token, so never on a public address'),
  ADMIN_PORT: by('9464', 'admin port with the metrics, not that of `PORT`; 0 takes a free one'),
  DATABASE_URL: unset('your PostgreSQL; unset: the embedded one'),
  DATA_DIR: by(
    '.data',
    'folder of the embedded PostgreSQL, of the spool and of what `npm start` starts beside the service',
  ),
  INGEST_TOKEN: unset('write tokens; two while one is being replaced; unset: nobody needs one, on loopback only'),
  BEACON_ORIGINS: unset('pages that may post beacons; unset: those served from loopback'),
  BEACON_RATE: by('50', 'beacons a second from one address, four times as many at once; 0: no limit'),
  TRUST_PROXY_HOPS: by(
    '0',
    'your own proxies in front, each of which appends to `X-Forwarded-For`; too high, and senders can invent addresses',
  ),
  REGION_HEADER: unset("header of your CDN with the client's country or region"),
  CARRIER_HEADER: unset("header of your CDN with the client's network operator"),
  SPOOL_MAX_BYTES: by(
    '1073741824',
    'bytes of acknowledged events that may wait in `DATA_DIR/spool` while PostgreSQL is away; 0: none, posts get 503 then',
  ),
  MAX_BYTES_IN_FLIGHT: by('16777216', 'bytes of bodies that may be under way at once; beyond that 503'),
  RETENTION_DAYS: by('30', 'days that requests are kept'),
  JOIN_WAIT: by('60', 'seconds after its last half that a request waits for the missing ones'),
  EXPECT_GATEWAY: by(
    'false',
    "whether a request also waits for its gateway half; on where [nginx's log](nginx.md) is posted",
  ),
  KNOWN_MODELS: unset('models that beacons may name before a server has'),
  KNOWN_ROUTES: unset('routes, likewise'),
  KNOWN_VARIANTS: unset('variants, likewise'),
  KNOWN_TIERS: unset('tiers, likewise'),
  KNOWN_BACKENDS: unset('backends, likewise'),
  KNOWN_REGIONS: unset('regions, likewise. With this or `REGION_HEADER`, pages can no longer bring new ones'),
  OTEL_EXPORTER_OTLP_ENDPOINT: unset(
    'base address of an OTLP/HTTP collector that gets [traces](traces.md); unset: none are exported',
  ),
  OTEL_EXPORTER_OTLP_HEADERS: unset('sent with every export, such as `authorization=Bearer%20…`'),
  TRACE_SAMPLE_RATE: by('1', 'share of requests whose trace is exported'),
  LOG_LEVEL: by('info', 'least level that is logged'),
  LOG_FILE: unset(
    "file that gets the [log's](logs.md) JSON lines as well, for a collector that reads files; put aside as `….1` at 16 MiB",
  ),
  LOG_REQUESTS: by(
    'slow',
    'which settled requests get a line with their trace id: those slower than 1 s or failed, or all',
  ),
  PROMETHEUS_URL: unset('where `--preview` asks for figures; unset: the Prometheus that `--with-prometheus` started'),
} as const satisfies Readonly<Record<string, Variable>>;

export type VariableName = keyof typeof VARIABLES;
