import path from 'node:path';
import type { Preview, PreviewOptions } from '../preview/server.ts';
import { startCompanions } from './companions.ts';

export interface Asked {
  readonly prometheus: boolean;
  readonly grafana: boolean;
  readonly preview: boolean;
}

export interface BesideOptions {
  readonly asked: Asked;
  readonly dataDir: string;
  readonly adminUrl: string;
  readonly databaseUrl: string;
  /** Where figures are asked when no Prometheus is started here. */
  readonly prometheusUrl: string | null;
  /** The service's own log file: the preview looks for others beside it. */
  readonly logFile: string | null;
  readonly say: (line: string) => void;
}

/** Starts what a command line asks for beside the service. @returns ends all of it */
export async function startBeside(options: BesideOptions): Promise<() => Promise<void>> {
  const { asked, dataDir, databaseUrl, logFile, say } = options;
  const companions = await startCompanions({ ...options, ...asked });
  const prometheusUrl = companions.prometheusUrl ?? options.prometheusUrl;
  const logFolder = logFile === null ? path.resolve(dataDir, 'logs') : path.dirname(path.resolve(logFile));
  const preview = asked.preview ? await openPreview({ databaseUrl, prometheusUrl, logFolder }, say) : null;
  return async () => {
    await preview?.stop();
    await companions.stop();
  };
}

/** It draws with packages that an installation for production alone leaves out. */
async function openPreview(options: PreviewOptions, say: (line: string) => void): Promise<Preview | null> {
  try {
    const { startPreview } = await import('../preview/server.ts');
    const preview = await startPreview(options);
    say(`preview: ${preview.url}`);
    return preview;
  } catch (error) {
    if ((error as { code?: string }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    say('the preview was not started: npm ci, without --omit=dev, installs what it draws with');
    return null;
  }
}
