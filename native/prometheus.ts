import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from './freePort.ts';
import { type NativeProgram, startProgram } from './nativeProgram.ts';

const PROVISIONING = fileURLToPath(new URL('../provisioning', import.meta.url));

export interface PrometheusOptions {
  readonly file: string;
  /** Keeps its data, configuration and log. */
  readonly folder: string;
  /** The ingest's admin port: `127.0.0.1:9464`. */
  readonly target: string;
  /** Of an Alertmanager to tell; null: alerts are only shown. */
  readonly alertmanager: string | null;
}

/** Prometheus on loopback with the shipped configuration and rules, in which only addresses are others. */
export async function startPrometheus({
  file,
  folder,
  target,
  alertmanager,
}: PrometheusOptions): Promise<NativeProgram> {
  await mkdir(folder, { recursive: true });
  const shipped = await readFile(path.join(PROVISIONING, 'prometheus/prometheus.yml'), 'utf8');
  const configFile = path.join(folder, 'prometheus.yml');
  await writeFile(configFile, configurationOf(shipped, target, alertmanager));
  const port = await freePort(9090);
  return startProgram({
    file,
    args: [
      `--config.file=${configFile}`,
      `--storage.tsdb.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=exemplar-storage',
      '--storage.tsdb.retention.time=30d',
    ],
    logFile: path.join(folder, 'prometheus.log'),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/-/ready',
  });
}

/** @throws Error when the shipped text has not the addresses that are replaced here */
export function configurationOf(shipped: string, target: string, alertmanager: string | null): string {
  const text = replaceOnce(
    replaceOnce(shipped, "'ingest:9464'", `'${target}'`),
    '  - rules/*.yaml',
    `  - '${path.join(PROVISIONING, 'prometheus/rules').replaceAll("'", "''")}/*.yaml'`,
  );
  if (alertmanager === null) return text;
  return `${text}\nalerting:\n  alertmanagers:\n    - static_configs: [{ targets: ['${alertmanager}'] }]\n`;
}

function replaceOnce(text: string, old: string, by: string): string {
  if (text.split(old).length !== 2) throw new Error(`prometheus.yml has not ${old} exactly once`);
  return text.replace(old, () => by);
}

/** Alertmanager on loopback with the shipped configuration, which tells nobody yet. */
export async function startAlertmanager(file: string, folder: string): Promise<NativeProgram> {
  await mkdir(folder, { recursive: true });
  const port = await freePort(9093);
  return startProgram({
    file,
    args: [
      `--config.file=${path.join(PROVISIONING, 'alertmanager/alertmanager.yml')}`,
      `--storage.path=${path.join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      // One alone: no port for others.
      '--cluster.listen-address=',
    ],
    logFile: path.join(folder, 'alertmanager.log'),
    url: `http://127.0.0.1:${port}`,
    readyPath: '/-/ready',
  });
}
