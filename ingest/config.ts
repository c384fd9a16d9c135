import { isIP } from 'node:net';
import { MAX_LABEL_VALUES, MAX_TEXT_LENGTH } from '../contract/limits.ts';
import { readOtlpHeaders } from './export/otlpHeaders.ts';
import { VARIABLES, type VariableName } from './variables.ts';

/** Everything that the environment decides, read once at start. */
export interface Config {
  readonly port: number;
  readonly adminPort: number;
  /** Address that the public port listens on. */
  readonly host: string;
  readonly adminHost: string;
  /** Null: an embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  readonly dataDir: string;
  /** Write tokens; several while one is being replaced. Empty: nobody needs one (loopback only). */
  readonly tokens: readonly string[];
  /** Origins whose pages may post beacons; null: pages served from loopback only. */
  readonly beaconOrigins: readonly string[] | null;
  /** Beacon events per second and client address; 0: no limit. */
  readonly beaconRate: number;
  /** Proxies of our own in front, each of which appends to X-Forwarded-For. */
  readonly trustProxyHops: number;
  readonly regionHeader: string | null;
  readonly carrierHeader: string | null;
  readonly retentionDays: number;
  /** Bytes of acknowledged events that may wait in `dataDir` while PostgreSQL is away; 0: none, posts get 503 then. */
  readonly spoolMaxBytes: number;
  /** Bytes of bodies that may be under way at once, from the first byte to the answer; beyond that 503. */
  readonly maxBytesInFlight: number;
  /** How long after its last half a request waits for the missing ones. */
  readonly joinWaitMs: number;
  readonly expectGateway: boolean;
  /** Label values that the operator vouches for, whoever sends them. */
  readonly knownValues: Readonly<
    Record<'model' | 'route' | 'variant' | 'tier' | 'backend' | 'region', readonly string[]>
  >;
  /** Base address of an OTLP/HTTP collector; null: no traces are exported. */
  readonly otlpEndpoint: string | null;
  /** Sent to it with every export: credentials, above all. Names in lower case. */
  readonly otlpHeaders: Readonly<Record<string, string>>;
  /** Share of requests whose trace is exported, 0 to 1. */
  readonly traceSampleRate: number;
  readonly logLevel: LogLevel;
  /** Gets the log as well, for a collector that reads files; null: standard output only. */
  readonly logFile: string | null;
  /** Where the preview of the dashboards asks; null: where `--with-prometheus` has started one. */
  readonly prometheusUrl: string | null;
  /** Which requests get a line of their own when they settle. */
  readonly logRequests: LogRequests;
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];
export const LOG_REQUESTS = ['none', 'slow', 'all'] as const;
export type LogRequests = (typeof LOG_REQUESTS)[number];

/** The environment is wrong; `faults` names every wrong variable, not just the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration is wrong:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

const LOOPBACK_HOSTS = new Set(['127.0.0.1', '::1', 'localhost']);
const HOST_NAME = /^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/i;
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TOKEN = /^[\x21-\x2b\x2d-\x7e]{8,}$/;

/**
 * Reads the environment. An empty value counts as absent.
 *
 * @throws ConfigError with one line for each wrong variable
 */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const faults: string[] = [];
  const fault = (text: string): void => void faults.push(text);
  const text = (name: VariableName): string | null => env[name]?.trim() || VARIABLES[name].standard;

  // After a fault the value is never used: the faults are thrown. NaN equals nothing, so that no other fault follows from it.
  const integer = (name: VariableName, least: number, most: number): number => {
    const given = text(name) ?? '';
    const value = Number(given);
    if (/^\d{1,15}$/.test(given) && value >= least && value <= most) return value;
    fault(`${name} must be a whole number from ${least} to ${most}`);
    return Number.NaN;
  };
  const seconds = (name: VariableName, least: number, most: number): number => {
    const given = text(name) ?? '';
    const value = Number(given);
    if (/^\d{1,9}(\.\d{1,3})?$/.test(given) && value >= least && value <= most) return Math.round(value * 1000);
    fault(`${name} must be a number of seconds from ${least} to ${most}`);
    return Number.NaN;
  };
  const choice = <T extends string>(name: VariableName, choices: readonly [T, ...T[]]): T => {
    const given = text(name)?.toLowerCase();
    const found = choices.find((each) => each === given);
    if (found === undefined) fault(`${name} must be one of ${choices.join(', ')}`);
    return found ?? choices[0];
  };
  const list = (name: VariableName): string[] => {
    const items = (text(name) ?? '').split(',').map((item) => item.trim());
    return items.filter((item) => item !== '');
  };
  const values = (name: VariableName): string[] => {
    const items = list(name);
    if (items.length > MAX_LABEL_VALUES) fault(`${name} must list at most ${MAX_LABEL_VALUES} values`);
    if (items.some((item) => item.length > MAX_TEXT_LENGTH))
      fault(`${name} must list values of at most ${MAX_TEXT_LENGTH} characters`);
    return items;
  };
  const header = (name: VariableName): string | null => {
    const given = text(name);
    if (given !== null && !HEADER_NAME.test(given)) fault(`${name} must be the name of an HTTP header`);
    return given?.toLowerCase() ?? null;
  };
  const address = (name: VariableName): string => {
    const given = text(name) ?? '';
    if (isIP(given) === 0 && !HOST_NAME.test(given))
      fault(`${name} must be an IP address or a host name, without a port`);
    return given;
  };

  const tokens = list('INGEST_TOKEN');
  if (tokens.some((token) => !TOKEN.test(token)) || (tokens.length === 0 && text('INGEST_TOKEN') !== null)) {
    fault(
      'INGEST_TOKEN must hold tokens of at least 8 visible ASCII characters, comma-separated when there are several',
    );
  }

  const origins = text('BEACON_ORIGINS') === null ? null : list('BEACON_ORIGINS');
  for (const origin of origins ?? []) {
    if (!isOrigin(origin))
      fault('BEACON_ORIGINS must list origins such as https://app.example, comma-separated, without a path');
  }

  const databaseUrl = text('DATABASE_URL');
  if (databaseUrl !== null && !/^postgres(ql)?:\/\//.test(databaseUrl)) {
    fault('DATABASE_URL must begin with postgres:// (leave it unset for the embedded PostgreSQL)');
  }

  const host = address('HOST');
  if (tokens.length === 0 && !LOOPBACK_HOSTS.has(host)) {
    fault(
      'INGEST_TOKEN must be set when HOST is not loopback: without a token anybody who reaches the port could write',
    );
  }

  const otlpEndpoint = text('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (otlpEndpoint !== null && !isHttpBase(otlpEndpoint)) {
    fault('OTEL_EXPORTER_OTLP_ENDPOINT must be an address such as http://collector:4318, without a query');
  }
  const otlpHeaders = readOtlpHeaders(text('OTEL_EXPORTER_OTLP_HEADERS') ?? '');
  if (otlpHeaders === null) {
    fault('OTEL_EXPORTER_OTLP_HEADERS must hold name=value pairs, comma-separated, with values percent-encoded');
  }
  const sampleRate = text('TRACE_SAMPLE_RATE') ?? '';
  if (!/^(0?\.\d{1,9}|0|1(\.0{1,9})?)$/.test(sampleRate)) {
    fault('TRACE_SAMPLE_RATE must be a number from 0 to 1');
  }

  const prometheusUrl = text('PROMETHEUS_URL');
  if (prometheusUrl !== null && !isHttpBase(prometheusUrl)) {
    fault('PROMETHEUS_URL must be an address such as http://127.0.0.1:9090, without a query');
  }

  const config: Config = {
    port: integer('PORT', 0, 65_535),
    adminPort: integer('ADMIN_PORT', 0, 65_535),
    host,
    adminHost: address('ADMIN_HOST'),
    databaseUrl,
    dataDir: text('DATA_DIR') ?? '',
    tokens,
    beaconOrigins: origins,
    beaconRate: integer('BEACON_RATE', 0, 1_000_000),
    trustProxyHops: integer('TRUST_PROXY_HOPS', 0, 16),
    regionHeader: header('REGION_HEADER'),
    carrierHeader: header('CARRIER_HEADER'),
    retentionDays: integer('RETENTION_DAYS', 2, 3_650),
    spoolMaxBytes: integer('SPOOL_MAX_BYTES', 0, 1_099_511_627_776),
    maxBytesInFlight: integer('MAX_BYTES_IN_FLIGHT', 1_048_576, 17_179_869_184),
    joinWaitMs: seconds('JOIN_WAIT', 0.1, 3_600),
    expectGateway: choice('EXPECT_GATEWAY', ['true', 'false']) === 'true',
    knownValues: {
      model: values('KNOWN_MODELS'),
      route: values('KNOWN_ROUTES'),
      variant: values('KNOWN_VARIANTS'),
      tier: values('KNOWN_TIERS'),
      backend: values('KNOWN_BACKENDS'),
      region: values('KNOWN_REGIONS'),
    },
    otlpEndpoint,
    otlpHeaders: otlpHeaders ?? {},
    traceSampleRate: Number(sampleRate),
    logLevel: choice('LOG_LEVEL', LOG_LEVELS),
    logFile: text('LOG_FILE'),
    prometheusUrl: prometheusUrl?.replace(/\/$/, '') ?? null,
    logRequests: choice('LOG_REQUESTS', LOG_REQUESTS),
  };
  if (config.port !== 0 && config.port === config.adminPort) fault('ADMIN_PORT must differ from PORT');
  if (faults.length > 0) throw new ConfigError([...new Set(faults)]);
  return Object.freeze(config);
}

function isOrigin(text: string): boolean {
  try {
    return new URL(text).origin === text;
  } catch {
    return false;
  }
}

function isHttpBase(text: string): boolean {
  try {
    const { protocol, search, hash } = new URL(text);
    return /^https?:$/.test(protocol) && search === '' && hash === '' && /^https?:\/\//i.test(text);
  } catch {
    return false;
  }
}
