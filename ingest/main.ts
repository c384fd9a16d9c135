import { runCommand } from '../commandLine/command.ts';
import type { Asked } from '../native/beside.ts';
import { START_COMMAND } from './commandLine.ts';
import { type Config, ConfigError, readConfig } from './config.ts';
import { createLog } from './log.ts';
import { openLogFile } from './logFile.ts';
import { type Service, startService } from './service.ts';

/** A stop that takes longer than this ends hard: whoever stops us would kill us anyway. */
const STOP_DEADLINE_MS = 10_000;

await runCommand(START_COMMAND, async (given) => {
  const { 'with-prometheus': prometheus, 'with-grafana': grafana, preview } = given;
  try {
    return await serve(readConfig(process.env), { prometheus, grafana, preview });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
});

/** Serves until it is stopped, which ends the process: whatever still hangs then shall not keep it. */
async function serve(config: Config, asked: Asked): Promise<never> {
  const log = createLog(config.logLevel, linesTo(config.logFile));
  let service: Service | null = null;
  let stopBeside: (() => Promise<void>) | null = null;
  let stopping = false;

  /** Also before the start is complete: whoever stops us then is answered as soon as it is. */
  const stop = async (code: number): Promise<void> => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), STOP_DEADLINE_MS).unref();
    if (service !== null) await finish(service, code);
  };
  const finish = async (started: Service, code: number): Promise<void> => {
    await stopBeside?.();
    await started.stop();
    log.info('stopped');
    process.exit(code);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      log.info('stopping', { signal });
      void stop(0);
    });
  }

  try {
    service = await startService(config, log);
    if (stopping) await finish(service, 0);
    if (Object.values(asked).includes(true)) {
      // Not loaded where nobody asks for it.
      const { startBeside } = await import('../native/beside.ts');
      const { adminUrl, databaseUrl } = service;
      stopBeside = await startBeside({ ...config, asked, adminUrl, databaseUrl, say: (line) => log.info(line) });
      if (stopping) await finish(service, 0);
    }
    void service.failed.then((error) => {
      if (stopping) return;
      log.error('the embedded PostgreSQL ended by itself', { error });
      void stop(1);
    });
  } catch (error) {
    log.error('the service did not start', { error });
    process.exit(1);
  }
  return new Promise(() => {});
}

/** Standard output, and the file if there is one. */
function linesTo(logFile: string | null): (line: string) => void {
  const toFile = logFile === null ? null : openLogFile(logFile);
  return (line) => {
    process.stdout.write(line);
    toFile?.(line);
  };
}
