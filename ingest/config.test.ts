import { describe, expect, test } from 'vitest';
import { MAX_LABEL_VALUES } from '../contract/limits.ts';
import { type Config, ConfigError, readConfig } from './config.ts';

function faultsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.faults;
  }
}

const TOKEN = 'a-long-token';

test('an empty environment is enough', () => {
  expect(readConfig({})).toEqual({
    port: 8080,
    adminPort: 9464,
    host: '127.0.0.1',
    adminHost: '127.0.0.1',
    databaseUrl: null,
    dataDir: '.data',
    tokens: [],
    beaconOrigins: null,
    beaconRate: 50,
    trustProxyHops: 0,
    regionHeader: null,
    carrierHeader: null,
    retentionDays: 30,
    spoolMaxBytes: 1_073_741_824,
    maxBytesInFlight: 16_777_216,
    joinWaitMs: 60_000,
    expectGateway: false,
    knownValues: { model: [], route: [], variant: [], tier: [], backend: [], region: [] },
    otlpEndpoint: null,
    otlpHeaders: {},
    traceSampleRate: 1,
    logLevel: 'info',
    logFile: null,
    prometheusUrl: null,
    logRequests: 'slow',
  } satisfies Config);
});

const NAMES = [
  'PORT',
  'ADMIN_PORT',
  'HOST',
  'ADMIN_HOST',
  'DATABASE_URL',
  'DATA_DIR',
  'INGEST_TOKEN',
  'BEACON_ORIGINS',
  'BEACON_RATE',
  'TRUST_PROXY_HOPS',
  'REGION_HEADER',
  'CARRIER_HEADER',
  'RETENTION_DAYS',
  'SPOOL_MAX_BYTES',
  'MAX_BYTES_IN_FLIGHT',
  'JOIN_WAIT',
  'EXPECT_GATEWAY',
  'KNOWN_MODELS',
  'KNOWN_ROUTES',
  'KNOWN_VARIANTS',
  'KNOWN_TIERS',
  'KNOWN_BACKENDS',
  'KNOWN_REGIONS',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'TRACE_SAMPLE_RATE',
  'LOG_LEVEL',
  'LOG_FILE',
  'PROMETHEUS_URL',
  'LOG_REQUESTS',
];

test('an empty or blank value is absent', () => {
  for (const nothing of ['', '  '])
    expect(readConfig(Object.fromEntries(NAMES.map((name) => [name, nothing])))).toEqual(readConfig({}));
});

test('everything can be set', () => {
  const config = readConfig({
    PORT: '0',
    ADMIN_PORT: '0',
    HOST: '::',
    ADMIN_HOST: '0.0.0.0',
    DATABASE_URL: 'postgresql://u:p@db.example:5432/firsttoken',
    DATA_DIR: ' /var/lib/firsttoken ',
    INGEST_TOKEN: `${TOKEN}, another-token`,
    BEACON_ORIGINS: 'https://app.example, http://localhost:3000',
    BEACON_RATE: '0',
    TRUST_PROXY_HOPS: '2',
    REGION_HEADER: 'CF-IPCountry',
    CARRIER_HEADER: 'X-AS-Name',
    RETENTION_DAYS: '7',
    SPOOL_MAX_BYTES: '0',
    MAX_BYTES_IN_FLIGHT: '1048576',
    JOIN_WAIT: '1.001',
    EXPECT_GATEWAY: 'TRUE',
    KNOWN_MODELS: 'llama-3-70b, qwen',
    KNOWN_ROUTES: '/api/chat',
    KNOWN_VARIANTS: 'int4',
    KNOWN_TIERS: 'vip,,free,',
    KNOWN_BACKENDS: 'gpu-01',
    KNOWN_REGIONS: 'eu-west',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example:4318/otlp',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20abc,x-scope-orgid=7',
    TRACE_SAMPLE_RATE: '.25',
    LOG_LEVEL: 'Debug',
    LOG_FILE: '/var/log/firsttoken/ingest.log',
    PROMETHEUS_URL: 'http://prometheus.internal:9090/',
    LOG_REQUESTS: 'ALL',
  });
  expect(config).toEqual({
    port: 0,
    adminPort: 0,
    host: '::',
    adminHost: '0.0.0.0',
    databaseUrl: 'postgresql://u:p@db.example:5432/firsttoken',
    dataDir: '/var/lib/firsttoken',
    tokens: [TOKEN, 'another-token'],
    beaconOrigins: ['https://app.example', 'http://localhost:3000'],
    beaconRate: 0,
    trustProxyHops: 2,
    regionHeader: 'cf-ipcountry',
    carrierHeader: 'x-as-name',
    retentionDays: 7,
    spoolMaxBytes: 0,
    maxBytesInFlight: 1_048_576,
    joinWaitMs: 1_001,
    expectGateway: true,
    knownValues: {
      model: ['llama-3-70b', 'qwen'],
      route: ['/api/chat'],
      variant: ['int4'],
      tier: ['vip', 'free'],
      backend: ['gpu-01'],
      region: ['eu-west'],
    },
    otlpEndpoint: 'https://collector.example:4318/otlp',
    otlpHeaders: { authorization: 'Basic abc', 'x-scope-orgid': '7' },
    traceSampleRate: 0.25,
    logLevel: 'debug',
    prometheusUrl: 'http://prometheus.internal:9090',
    logFile: '/var/log/firsttoken/ingest.log',
    logRequests: 'all',
  } satisfies Config);
  expect(Object.isFrozen(config)).toBe(true);
});

const tooMany = Array.from({ length: MAX_LABEL_VALUES + 1 }, (_, index) => `v${index}`).join(',');
const WRONG: Record<string, string[]> = {
  PORT: ['-1', '65536', '80.5', '8080a', '0x1f90', '1e3', '+80', 'http', '٨٠'],
  ADMIN_PORT: ['-1', '65536', 'x'],
  HOST: ['localhost:8080', 'http://localhost', 'a b', '[::1]', '1.2.3.4/8', ':::'],
  ADMIN_HOST: ['localhost:9464', '*'],
  DATABASE_URL: ['mysql://h/db', 'localhost:5432', 'postgres', '/var/run/postgresql'],
  INGEST_TOKEN: ['short', `${TOKEN},short`, 'has a blank', 'täglich-neu', ',', ' , '],
  BEACON_ORIGINS: [
    '*',
    'app.example',
    'https://app.example/',
    'https://app.example/path',
    'https://APP.example',
    'null',
    'https://a.example,*',
    'https://app.example:443',
  ],
  BEACON_RATE: ['-1', '0.5', 'fast', '1000001'],
  SPOOL_MAX_BYTES: ['-1', '1GB', '1.5'],
  MAX_BYTES_IN_FLIGHT: ['0', '1000', '64MB'],
  TRUST_PROXY_HOPS: ['true', '-1', '17', '1.5'],
  REGION_HEADER: ['cf ipcountry', 'region:', 'ä'],
  CARRIER_HEADER: ['x,y', '"x"'],
  RETENTION_DAYS: ['0', '1', '3651', '30d', 'forever'],
  JOIN_WAIT: ['0', '0.05', '3601', '60s', '-5', '1.0001', 'NaN', 'Infinity'],
  EXPECT_GATEWAY: ['1', 'yes', 'on'],
  KNOWN_MODELS: [tooMany, 'm'.repeat(129)],
  KNOWN_ROUTES: [tooMany],
  KNOWN_VARIANTS: [tooMany],
  KNOWN_TIERS: [tooMany],
  KNOWN_BACKENDS: [tooMany],
  KNOWN_REGIONS: [tooMany, `eu,${'r'.repeat(129)}`],
  OTEL_EXPORTER_OTLP_ENDPOINT: [
    'collector:4318',
    'http:',
    'grpc://collector:4317',
    'http://c:4318/?a=b',
    'http://c/#x',
  ],
  OTEL_EXPORTER_OTLP_HEADERS: ['Bearer abc', 'authorization=', 'host=elsewhere', 'a=%0d%0ab: c'],
  TRACE_SAMPLE_RATE: ['-0.1', '1.1', '2', '10%', '1e-3', 'NaN', '0.', '.'],
  LOG_LEVEL: ['verbose', 'trace', '0'],
  LOG_REQUESTS: ['some', 'true'],
  PROMETHEUS_URL: ['prometheus:9090', 'file:///etc', 'http://p/?x=1'],
};

describe('wrong values', () => {
  const cases = Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const));
  test.each(cases)('%s=%j', (name, value) => {
    const faults = faultsOf({ INGEST_TOKEN: TOKEN, [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^${name} `));
  });

  test('are not repeated: one may be a secret', () => {
    const secrets = {
      INGEST_TOKEN: 'sécret-token',
      DATABASE_URL: 'mysql://u:sécret@h/db',
      HOST: 'sécret:1',
      PORT: 'sécret',
    };
    expect(faultsOf(secrets)).toHaveLength(4);
    expect(faultsOf(secrets).join()).not.toContain('sécret');
  });

  test('all at once', () => {
    const env = Object.fromEntries(Object.entries(WRONG).map(([name, [value]]) => [name, value!]));
    const faults = faultsOf(env);
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual(Object.keys(WRONG).sort());
    expect(() => readConfig(env)).toThrow(ConfigError);
    for (const name of Object.keys(WRONG)) expect(() => readConfig(env)).toThrow(name);
  });

  test('each is named once, however many of its items are wrong', () => {
    expect(faultsOf({ BEACON_ORIGINS: '*,x,y' })).toHaveLength(1);
  });
});

describe('who may write', () => {
  test.each(['127.0.0.1', '::1', 'localhost'])('%s needs no token', (host) => {
    expect(faultsOf({ HOST: host })).toEqual([]);
  });

  test.each(['0.0.0.0', '::', '192.168.1.5', 'ingest.example', 'my_host', '127.0.0.2'])('%s needs one', (host) => {
    expect(faultsOf({ HOST: host })).toEqual([expect.stringMatching(/^INGEST_TOKEN must be set when HOST/)]);
    expect(faultsOf({ HOST: host, INGEST_TOKEN: TOKEN })).toEqual([]);
  });
});

test('both ports must differ, unless they are chosen freely', () => {
  expect(faultsOf({ PORT: '9464' })).toEqual(['ADMIN_PORT must differ from PORT']);
  expect(faultsOf({ PORT: '80', ADMIN_PORT: '80' })).toEqual(['ADMIN_PORT must differ from PORT']);
  expect(faultsOf({ PORT: '0', ADMIN_PORT: '0' })).toEqual([]);
});
