import { randomBytes } from 'node:crypto';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '../../native/freePort.ts';
import type { NativeProgram } from '../../native/nativeProgram.ts';
import { startAlertmanager, startPrometheus } from '../../native/prometheus.ts';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { exampleEnvironment, ROOT, readText } from '../stack/composeFile.ts';
import { type Replacement, withAddresses } from './addresses.ts';
import { type Differences, environmentHere } from './environment.ts';
import { answers, type Launched, launch } from './launch.ts';
import { type StackPostgres, startStackPostgres } from './postgres.ts';

/** A configuration file as it was shipped and as a program got it. */
export interface UsedFile {
  readonly shipped: string;
  readonly used: string;
  readonly replacements: readonly Replacement[];
}

export interface Stack {
  readonly folder: string;
  readonly files: readonly UsedFile[];
  /** Which variables of compose.yaml have another value here, by service. */
  readonly environments: Readonly<Record<string, Differences>>;
  readonly ingestUrl: string;
  readonly adminUrl: string;
  /** Where applications send OTLP. */
  readonly collectorUrl: string;
  readonly jaegerUrl: string;
  readonly logsUrl: string;
  readonly prometheusUrl: string;
  readonly alertmanagerUrl: string;
  readonly databaseUrl: string;
  /** One of the tokens that may ask the ingest. */
  readonly token: string;
  /** Lets the simulated users go; what is under way ends. */
  stopTraffic(): Promise<void>;
  stop(): Promise<void>;
}

/** The folders that compose's volumes are. */
const FOLDERS = ['apps', 'containers', 'data', 'nginx-logs', 'nginx-tmp', 'nginx', 'postgres-logs'] as const;

/** Starts every part that compose starts with its profiles, Jaeger in Tempo's place and VictoriaLogs in Loki's, on loopback. */
export async function startStack(programs: Readonly<Record<string, string>>): Promise<Stack> {
  const nginx = findProgram(programNamed('nginx'));
  if (nginx === undefined) throw new MissingProgramError('nginx');
  const folder = await mkdtemp(path.join(tmpdir(), 'firsttoken-stack-'));
  // PostgreSQL and nginx's workers are other users where root starts them.
  await chmod(folder, 0o755);
  const at = Object.fromEntries(FOLDERS.map((name) => [name, path.join(folder, name)])) as Record<
    (typeof FOLDERS)[number],
    string
  >;
  for (const each of Object.values(at)) await mkdir(each);
  await chmod(at['postgres-logs'], 0o777);

  const parts: (Launched | NativeProgram | StackPostgres)[] = [];
  const stop = async (): Promise<void> => {
    for (const part of parts.splice(0).reverse()) await part.stop();
    await rm(folder, { recursive: true, force: true });
  };
  const started = async <T extends Launched | NativeProgram | StackPostgres>(part: Promise<T>): Promise<T> => {
    parts.push(await part);
    return part;
  };
  const files: UsedFile[] = [];
  const configure = async (shipped: string, name: string, replacements: readonly Replacement[]): Promise<string> => {
    const used = path.join(folder, name);
    await writeFile(used, withAddresses(readText(shipped), replacements));
    files.push({ shipped: path.join(ROOT, shipped), used, replacements });
    return used;
  };

  try {
    const secrets = Object.fromEntries(
      Object.entries(exampleEnvironment()).map(([name, value]) => [name, value || randomBytes(18).toString('hex')]),
    );
    const port = async (): Promise<string> => `127.0.0.1:${await freePort(0)}`;
    const [ingest, admin, gateway, backend] = [await port(), await port(), await port(), await port()];
    const [otlpGrpc, otlpHttp, traces, jaegerHttp, jaegerGrpc] = [
      await port(),
      await port(),
      await port(),
      await port(),
      await port(),
    ];
    const logs = await port();
    const node = [process.execPath, '--import', 'tsx'];
    const environments: Record<string, Differences> = {};
    const environment = (service: string, differences: Differences): Record<string, string> => {
      environments[service] = differences;
      return environmentHere(service, secrets, differences);
    };
    const portOf = (address: string): string => new URL(`http://${address}`).port;

    const postgres = await started(startStackPostgres(path.join(folder, 'postgres'), at['postgres-logs'], secrets));

    await started(
      launch({
        name: 'jaeger',
        command: [programs['jaeger']!, '--config', path.join(import.meta.dirname, 'jaeger.yaml')],
        env: { OTLP_HTTP: traces, QUERY_HTTP: jaegerHttp, QUERY_GRPC: jaegerGrpc },
        folder,
        ready: () => answers(`http://${jaegerHttp}/api/services`),
      }),
    );
    await started(
      launch({
        name: 'victoria-logs',
        command: [programs['victoria-logs']!, `-httpListenAddr=${logs}`, `-storageDataPath=${folder}/victoria-logs`],
        folder,
        ready: () => answers(`http://${logs}/health`),
      }),
    );
    const collectorFile = await configure('provisioning/collector/collector.yaml', 'collector.yaml', [
      ['0.0.0.0:4317', otlpGrpc],
      ['0.0.0.0:4318', otlpHttp],
      ['http://tempo:4318', `http://${traces}`],
      ['http://loki:3100/otlp', `http://${logs}/insert/opentelemetry`],
      ['http://ingest:8080/v1/logs', `http://${ingest}/v1/logs`],
      ['/var/log/nginx/access.json.log', `${at['nginx-logs']}/access.json.log`],
      ['/var/log/postgresql/*.json', `${at['postgres-logs']}/*.json`],
      ['/var/log/firsttoken/*.log', `${at.apps}/*.log`],
      ['/var/lib/docker/containers/*/*-json.log', `${at.containers}/*/*-json.log`],
    ]);
    await started(
      launch({
        name: 'collector',
        command: [programs['collector']!, `--config=${collectorFile}`],
        env: environment('collector', {}),
        folder,
        // It takes nothing but exports here: any answer will do.
        ready: async () => (await fetch(`http://${otlpHttp}/`)).status > 0,
      }),
    );
    await started(
      launch({
        name: 'ingest',
        command: [...node, 'ingest/main.ts'],
        env: environment('ingest', {
          HOST: '127.0.0.1',
          PORT: portOf(ingest),
          ADMIN_HOST: '127.0.0.1',
          ADMIN_PORT: portOf(admin),
          DATABASE_URL: postgres.urlOf('firsttoken_ingest', secrets['INGEST_PG_PASSWORD']!),
          DATA_DIR: at.data,
          OTEL_EXPORTER_OTLP_ENDPOINT: `http://${otlpHttp}`,
          LOG_FILE: `${at.apps}/ingest.log`,
        }),
        folder,
        ready: () => answers(`http://${ingest}/readyz`),
      }),
    );
    await started(
      launch({
        name: 'backend',
        command: [...node, 'demo/backendMain.ts'],
        env: environment('backend', {
          HOST: '127.0.0.1',
          PORT: portOf(backend),
          INGEST_URL: `http://${ingest}`,
          DATABASE_URL: postgres.urlOf('demo_app', secrets['DEMO_PG_PASSWORD']!),
          LOG_FILE: `${at.apps}/backend.log`,
        }),
        folder,
        ready: () => answers(`http://${backend}/healthz`),
      }),
    );
    await configure('provisioning/nginx/firsttoken.conf', 'nginx/firsttoken.conf', []);
    await configure('provisioning/nginx/firsttoken-stream.conf', 'nginx/firsttoken-stream.conf', [
      ['/var/log/nginx/access.json.log', `${at['nginx-logs']}/access.json.log`],
    ]);
    const nginxFile = await configure('provisioning/nginx/nginx.conf', 'nginx/nginx.conf', [
      ['/tmp/', `${at['nginx-tmp']}/`],
      ['listen 8080;', `listen ${gateway};`],
      ['http://ingest:8080', `http://${ingest}`],
      ['http://backend:3001', `http://${backend}`],
    ]);
    await started(
      launch({
        name: 'nginx',
        command: [path.join(ROOT, 'provisioning/nginx/start.sh'), '-c', nginxFile],
        env: {
          PATH: `${process.env['PATH']}:${path.dirname(nginx)}`,
          ACCESS_LOG: `${at['nginx-logs']}/access.json.log`,
          // What looks after the log ends so soon after nginx.
          ACCESS_LOG_LOOK_SECONDS: '1',
        },
        folder,
        ready: () => answers(`http://${gateway}/nginx-health`),
      }),
    );
    const alertmanager = await started(startAlertmanager(programs['alertmanager']!, path.join(folder, 'alertmanager')));
    const prometheus = await started(
      startPrometheus({
        file: programs['prometheus']!,
        folder: path.join(folder, 'prometheus'),
        target: admin,
        alertmanager: new URL(alertmanager.url).host,
      }),
    );
    const traffic = await started(
      launch({
        name: 'traffic',
        command: [...node, 'demo/trafficMain.ts'],
        env: environment('traffic', { GATEWAY_URL: `http://${gateway}` }),
        folder,
      }),
    );
    return {
      folder,
      files,
      environments,
      ingestUrl: `http://${ingest}`,
      adminUrl: `http://${admin}`,
      collectorUrl: `http://${otlpHttp}`,
      jaegerUrl: `http://${jaegerHttp}`,
      logsUrl: `http://${logs}`,
      prometheusUrl: prometheus.url,
      alertmanagerUrl: alertmanager.url,
      databaseUrl: postgres.url,
      token: secrets['INGEST_TOKEN']!,
      async stopTraffic() {
        await traffic.stop();
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function readUsed({ shipped, used }: UsedFile): Promise<{ shipped: string; used: string }> {
  return { shipped: await readFile(shipped, 'utf8'), used: await readFile(used, 'utf8') };
}
