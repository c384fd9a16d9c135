import path from 'node:path';
import { findProgram } from '../setup/findProgram.ts';
import { type Program, programNamed } from '../setup/programs.ts';
import { startGrafana } from './grafana.ts';
import type { NativeProgram } from './nativeProgram.ts';
import { startAlertmanager, startPrometheus } from './prometheus.ts';

export interface CompanionOptions {
  readonly prometheus: boolean;
  readonly grafana: boolean;
  /** Holds a folder for each of them. */
  readonly dataDir: string;
  readonly adminUrl: string;
  readonly databaseUrl: string;
  /** Told one line for each program: where it is, or how to get it. */
  readonly say: (line: string) => void;
}

export interface Companions {
  readonly prometheusUrl: string | null;
  readonly alertmanagerUrl: string | null;
  readonly grafanaUrl: string | null;
  stop(): Promise<void>;
}

const GRAFANA: Program = {
  name: 'grafana',
  alsoNamed: ['grafana-server'],
  debian: 'grafana',
  homebrew: 'grafana',
  purpose: 'the dashboards',
};

/**
 * Starts Prometheus, Alertmanager and Grafana beside the service, as far as they are on the PATH, with the provisioning that compose uses. What is
 * not there, or does not start, is told and does without.
 */
export async function startCompanions(options: CompanionOptions): Promise<Companions> {
  const { dataDir, say } = options;
  const running: NativeProgram[] = [];
  const start = async (
    program: Program,
    how: (file: string, folder: string) => Promise<NativeProgram>,
  ): Promise<string | null> => {
    const file = findProgram(program);
    if (file === undefined) {
      say(`${program.name} is not on the PATH: ${howToGet(program)}`);
      return null;
    }
    try {
      const started = await how(file, path.resolve(dataDir, 'native', program.name));
      running.push(started);
      say(`${program.name}: ${started.url}`);
      return started.url;
    } catch (error) {
      say(`${program.name} was not started: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
  };

  let alertmanagerUrl: string | null = null;
  let prometheusUrl: string | null = null;
  let grafanaUrl: string | null = null;
  if (options.prometheus) {
    alertmanagerUrl = await start(programNamed('prometheus-alertmanager'), startAlertmanager);
    const target = new URL(options.adminUrl).host;
    const alertmanager = alertmanagerUrl === null ? null : new URL(alertmanagerUrl).host;
    prometheusUrl = await start(programNamed('prometheus'), (file, folder) =>
      startPrometheus({ file, folder, target, alertmanager }),
    );
  }
  if (options.grafana) {
    const { databaseUrl } = options;
    grafanaUrl = await start(GRAFANA, (file, folder) => startGrafana({ file, folder, databaseUrl, prometheusUrl }));
  }
  return {
    prometheusUrl,
    alertmanagerUrl,
    grafanaUrl,
    async stop() {
      await Promise.all(running.map((program) => program.stop()));
    },
  };
}

function howToGet({ name, debian, homebrew }: Program): string {
  if (name === 'grafana') return 'https://grafana.com/grafana/download, or docker compose up';
  return process.platform === 'darwin' ? `brew install ${homebrew}` : `apt-get install ${debian}`;
}
