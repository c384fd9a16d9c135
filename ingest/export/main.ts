import { runCommand } from '../../commandLine/command.ts';
import { showWaiting } from '../../commandLine/waiting.ts';
import { ConfigError, readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createPool, endPool } from '../store/connection.ts';
import { exportAgain } from './exportAgain.ts';
import { openStore } from './openStore.ts';
import { createTracesPoster } from './postTraces.ts';
import { sinceOf } from './since.ts';

const COMMAND = {
  name: 'npm run export-traces',
  summary: 'Exports the traces of stored requests again, to the collector that the service is set to.',
  options: {
    since: {
      value: '<time>',
      help: 'how long ago (30m, 1h, 2d), or a moment (2026-12-01T08:00:00Z)',
      required: true,
      read: (text: string) => sinceOf(text, Date.now()),
    },
  },
  environment: "as the service's: docs/configuration.md. OTEL_EXPORTER_OTLP_ENDPOINT must be set.",
  exitCodes: { 0: 'all were exported', 1: 'some were not, and the log says why', 2: 'wrong arguments or environment' },
} as const;

async function main({ since: sinceMs }: { readonly since: number }): Promise<number> {
  let config: ReturnType<typeof readConfig>;
  try {
    config = readConfig(process.env);
    if (config.otlpEndpoint === null) throw new ConfigError(['OTEL_EXPORTER_OTLP_ENDPOINT must be set']);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return 2;
  }
  const log = createLog(config.logLevel);
  const store = await openStore(config, log);
  const pool = createPool(store.url);
  const poster = createTracesPoster(config.otlpEndpoint, config.otlpHeaders);
  const waiting = showWaiting('exporting');
  try {
    const done = await exportAgain(pool, poster.post, sinceMs, config.traceSampleRate);
    const facts = {
      since: new Date(sinceMs).toISOString(),
      requests: done.requests,
      exported_spans: done.exportedSpans,
      dropped_spans: done.droppedSpans,
    };
    if (done.droppedSpans === 0) log.info('traces were exported again', facts);
    else log.error('not all traces were exported again', { ...facts, why: done.why });
    return done.droppedSpans === 0 ? 0 : 1;
  } finally {
    waiting.end();
    poster.close();
    await endPool(pool);
    await store.close();
  }
}

await runCommand(COMMAND, main);
