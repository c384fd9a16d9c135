import { existsSync } from 'node:fs';
import { anyText, type Values } from '../commandLine/command.ts';
import { embeddedDatabaseUrl } from './embeddedDatabase.ts';
import type { Target } from './target.ts';

const address = (example: string) => (text: string) => {
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) return text.replace(/\/$/, '');
  throw new RangeError(`an address such as ${example}`);
};

export const COMMAND = {
  name: 'npm run doctor',
  summary: `Looks at a running installation and says of each thing that is wrong how it is mended. It reads only, but for one request
that it makes to your application, if you name it. What is not named is not looked at.`,
  options: {
    url: { value: '<address>', help: 'the service (http://127.0.0.1:8080)', read: address('http://127.0.0.1:8080') },
    admin: {
      value: '<address>',
      help: 'its admin port (http://127.0.0.1:9464), or none',
      read: (text: string) => (text === 'none' ? null : address('http://127.0.0.1:9464')(text)),
    },
    token: {
      value: '<token>',
      help: 'a write token; better in INGEST_TOKEN, where no list of processes shows it',
      read: anyText,
    },
    origin: {
      value: '<origin>',
      help: 'where your pages come from: https://app.example',
      read(text: string) {
        if (URL.canParse(text) && new URL(text).origin === text) return text;
        throw new RangeError('an origin such as https://app.example, without a path');
      },
    },
    app: {
      value: '<address>',
      help: 'an address of your application that streams, as its users reach it',
      read: appAddress,
    },
    'app-body': { value: '<json>', help: 'what is posted to it; without, it is a GET', read: anyText },
    'app-header': {
      value: '<header>',
      help: "one more header for it: 'Authorization: Bearer …'",
      read(text: string): readonly [string, string] {
        const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(text) ?? [];
        if (name !== undefined && value !== undefined) return [name, value];
        throw new RangeError("a header such as 'Authorization: Bearer …'");
      },
    },
    prometheus: { value: '<address>', help: 'Prometheus', read: address('http://127.0.0.1:9090') },
    grafana: { value: '<address>', help: 'Grafana', read: address('http://127.0.0.1:3000') },
    collector: {
      value: '<address>',
      help: 'the OpenTelemetry collector (OTEL_EXPORTER_OTLP_ENDPOINT)',
      read: address('http://127.0.0.1:4318'),
    },
    database: {
      value: '<address>',
      help: 'PostgreSQL (DATABASE_URL, else the embedded one of the data folder)',
      read: anyText,
    },
    'data-dir': {
      value: '<folder>',
      help: "the service's data folder, where it is on this machine (DATA_DIR, .data)",
      read: anyText,
    },
    json: { help: 'the findings as JSON' },
  },
  environment: `as the service's: PORT, ADMIN_PORT, INGEST_TOKEN, DATABASE_URL, DATA_DIR, RETENTION_DAYS, OTEL_EXPORTER_OTLP_ENDPOINT.
For Grafana GRAFANA_TOKEN (of a service account) or GRAFANA_ADMIN_PASSWORD. NO_COLOR.`,
  exitCodes: { 0: 'no fault', 1: 'at least one fault' },
} as const;

function appAddress(text: string): string {
  address('https://app.example/api/chat')(text);
  return text;
}

/** What to look at, by options first and the environment second. */
export async function targetOf(values: Values<typeof COMMAND.options>, env: NodeJS.ProcessEnv): Promise<Target> {
  const set = (name: string): string | null => env[name]?.trim() || null;
  const port = set('PORT');
  const adminPort = set('ADMIN_PORT');
  const givenFolder = values['data-dir'] ?? set('DATA_DIR');
  const dataDir = givenFolder ?? (existsSync('.data') ? '.data' : null);
  const grafanaToken = set('GRAFANA_TOKEN');
  const password = set('GRAFANA_ADMIN_PASSWORD');
  return {
    url: values.url ?? `http://127.0.0.1:${port ?? 8080}`,
    adminUrl: values.admin === undefined ? `http://127.0.0.1:${adminPort ?? 9464}` : values.admin,
    token: values.token ?? set('INGEST_TOKEN')?.split(',')[0]?.trim() ?? null,
    origin: values.origin ?? null,
    app:
      values.app === undefined
        ? null
        : { url: values.app, body: values['app-body'] ?? null, header: values['app-header'] ?? null },
    prometheusUrl: values.prometheus ?? null,
    grafana:
      values.grafana === undefined
        ? null
        : {
            url: values.grafana,
            authorization:
              grafanaToken !== null
                ? `Bearer ${grafanaToken}`
                : password !== null
                  ? `Basic ${Buffer.from(`admin:${password}`).toString('base64')}`
                  : null,
          },
    collectorUrl: values.collector ?? set('OTEL_EXPORTER_OTLP_ENDPOINT'),
    databaseUrl:
      values.database ?? set('DATABASE_URL') ?? (dataDir === null ? null : await embeddedDatabaseUrl(dataDir)),
    dataDir,
    retentionDays: Number(set('RETENTION_DAYS') ?? 30),
  };
}
