import { ConfigError, readConfig } from '../config.ts';
import { createLog } from '../log.ts';
import { createPool, endPool } from '../store/connection.ts';
import { exportAgain } from './exportAgain.ts';
import { openStore } from './openStore.ts';
import { createTracesPoster } from './postTraces.ts';
import { sinceOf } from './since.ts';

/** `npm run export-traces -- --since 1h`: exports what the store holds, with the service's own environment. */
async function main(): Promise<number> {
  const sinceMs = sinceOf(process.argv.slice(2), Date.now());
  const config = readConfig(process.env);
  if (config.otlpEndpoint === null) throw new ConfigError(['OTEL_EXPORTER_OTLP_ENDPOINT must be set']);
  const log = createLog(config.logLevel);
  const store = await openStore(config, log);
  const pool = createPool(store.url);
  const poster = createTracesPoster(config.otlpEndpoint);
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
    poster.close();
    await endPool(pool);
    await store.close();
  }
}

try {
  process.exitCode = await main();
} catch (error) {
  const known = error instanceof ConfigError || error instanceof RangeError;
  process.stderr.write(`${known ? error.message : String(error)}\n`);
  process.exitCode = known ? 2 : 1;
}
