import { randomBytes } from 'node:crypto';
import { cp, mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { freePort } from './freePort.ts';
import { type NativeProgram, startProgram } from './nativeProgram.ts';

const PROVISIONING = fileURLToPath(new URL('../provisioning/grafana', import.meta.url));
const READER = 'grafana_reader';

export interface GrafanaOptions {
  readonly file: string;
  readonly folder: string;
  readonly databaseUrl: string;
  readonly prometheusUrl: string | null;
}

/**
 * Grafana on loopback with the shipped data sources, alerts and dashboards, in which only addresses are others. Whoever reaches loopback
 * may look without a password. Its role in the database gets a new password with each start.
 *
 * @throws Error that says what to do when the database does not let us give the role a login
 */
export async function startGrafana({
  file,
  folder,
  databaseUrl,
  prometheusUrl,
}: GrafanaOptions): Promise<NativeProgram> {
  const provisioning = path.join(folder, 'provisioning');
  await mkdir(path.join(provisioning, 'datasources'), { recursive: true });
  await mkdir(path.join(provisioning, 'dashboards'), { recursive: true });
  const password = randomBytes(24).toString('hex');
  await giveReaderALogin(databaseUrl, password);

  const dashboards = path.join(PROVISIONING, 'dashboards');
  const provider = await readFile(path.join(PROVISIONING, 'dashboards.yaml'), 'utf8');
  await writeFile(
    path.join(provisioning, 'dashboards/firsttoken.yaml'),
    provider.replace('path: /etc/dashboards', () => `path: ${JSON.stringify(dashboards)}`),
  );
  await cp(path.join(PROVISIONING, 'alerting'), path.join(provisioning, 'alerting'), { recursive: true });
  const sources = await readFile(path.join(PROVISIONING, 'datasources/firsttoken.yaml'), 'utf8');
  await writeFile(
    path.join(provisioning, 'datasources/firsttoken.yaml'),
    dataSourcesOf(sources, databaseUrl, prometheusUrl),
  );

  const port = await freePort(3000);
  return startProgram({
    file,
    // The older name of the program is a server by itself.
    args: path.basename(file) === 'grafana' ? ['server', ...(await homeOf(file))] : await homeOf(file),
    env: {
      GF_PATHS_PROVISIONING: provisioning,
      GF_PATHS_DATA: path.join(folder, 'data'),
      GF_PATHS_LOGS: path.join(folder, 'logs'),
      GF_PATHS_PLUGINS: path.join(folder, 'plugins'),
      GF_SERVER_HTTP_ADDR: '127.0.0.1',
      GF_SERVER_HTTP_PORT: String(port),
      GF_SERVER_ROOT_URL: `http://localhost:${port}`,
      GF_AUTH_ANONYMOUS_ENABLED: 'true',
      GF_AUTH_ANONYMOUS_ORG_ROLE: 'Viewer',
      GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH: path.join(dashboards, 'first-token.json'),
      GF_PLUGINS_PREINSTALL_AUTO_UPDATE: 'false',
      GF_PLUGINS_PREINSTALL_DISABLED: 'true',
      GF_ANALYTICS_REPORTING_ENABLED: 'false',
      GF_ANALYTICS_CHECK_FOR_UPDATES: 'false',
      GF_ANALYTICS_CHECK_FOR_PLUGIN_UPDATES: 'false',
      GRAFANA_PG_PASSWORD: password,
    },
    logFile: path.join(folder, 'grafana.log'),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/api/health',
  });
}

/** The data sources with the addresses of this machine. Without a Prometheus its panels say that they cannot reach it. */
export function dataSourcesOf(shipped: string, databaseUrl: string, prometheusUrl: string | null): string {
  const { hostname, port, pathname } = new URL(databaseUrl);
  return shipped
    .replace('http://prometheus:9090', () => prometheusUrl ?? 'http://127.0.0.1:9090')
    .replace('url: postgres:5432', () => `url: '${hostname}:${port || '5432'}'`)
    .replace('database: firsttoken', () => `database: ${JSON.stringify(decodeURIComponent(pathname.slice(1)))}`);
}

async function giveReaderALogin(databaseUrl: string, password: string): Promise<void> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    await client.query(`ALTER ROLE ${READER} LOGIN PASSWORD ${pg.escapeLiteral(password)}`);
    await client.query(`ALTER ROLE ${READER} SET default_transaction_read_only = on`);
  } catch (error) {
    throw new Error(`the role ${READER} cannot be given a login by this database's user: see docs/install.md`, {
      cause: error,
    });
  } finally {
    await client.end();
  }
}

/** Packages put Grafana's own files beside the program or under /usr/share. */
async function homeOf(file: string): Promise<string[]> {
  const beside = path.dirname(path.dirname(await realpath(file)));
  for (const home of [beside, '/usr/share/grafana']) {
    const found = await stat(path.join(home, 'conf/defaults.ini')).catch(() => undefined);
    if (found !== undefined) return ['--homepath', home];
  }
  return [];
}
