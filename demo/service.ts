import { readConfig } from '../ingest/config.ts';
import { createLog } from '../ingest/log.ts';
import { openLogFile } from '../ingest/logFile.ts';
import { startService } from '../ingest/service.ts';
import { runAsChild } from './childProcess.ts';

/** The process of the ingest service itself, as `npm start` runs it; its settings come through the environment. */
export interface ServiceReady {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly databaseUrl: string;
}

await runAsChild<unknown, ServiceReady>(async () => {
  const config = readConfig(process.env);
  const toFile = config.logFile === null ? null : openLogFile(config.logFile);
  const log = createLog(config.logLevel, (line) => {
    process.stdout.write(line);
    toFile?.(line);
  });
  const { publicUrl, adminUrl, databaseUrl, failed, stop } = await startService(config, log);
  return { ready: { publicUrl, adminUrl, databaseUrl }, failed, stop };
});
