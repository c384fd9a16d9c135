import path from 'node:path';
import { MAX_LABEL_VALUES } from '../contract/limits.ts';
import { migrate } from '../migrations/migrate.ts';
import { createAdminApp, createApp } from './app.ts';
import type { Config } from './config.ts';
import { createTracesPoster } from './export/postTraces.ts';
import { TraceExporter } from './export/traceExporter.ts';
import { Admission } from './http/admission.ts';
import type { Log } from './log.ts';
import type { Half } from './pipeline/half.ts';
import type { IngestDeps } from './pipeline/ingest.ts';
import { CAPPED_LABELS, Labels } from './pipeline/labels.ts';
import { measure } from './pipeline/measure.ts';
import { createMetrics } from './registry.ts';
import { createRequestLog } from './requestLog.ts';
import { beaconsRoute } from './routes/beacons.ts';
import { gatewayLogsRoute, otlpLogsRoute } from './routes/gatewayLogs.ts';
import { serverTimingsRoute } from './routes/serverTimings.ts';
import { createServer, listen } from './server.ts';
import { Spool } from './spool/spool.ts';
import { createPool, endPool } from './store/connection.ts';
import { startEmbedded } from './store/embedded.ts';
import { acceptLabelValues, readLabelValues } from './store/labelValues.ts';
import { PostgresStore } from './store/postgres.ts';
import { createRetention } from './store/retention.ts';
import { createRollupFolding } from './store/rollupFolding.ts';
import { Settlement } from './store/settlement.ts';
import { SpoolingStore } from './store/spooling.ts';
import { createStatements } from './store/statements.ts';
import type { OnCommitted } from './store/store.ts';

/** Of the 10 s that a stop may take: what requests under way get, before the store and PostgreSQL close. */
const DRAIN_MS = 4_000;
/** From the stop's begin until traces must have been flushed; what remains of the 10 s is PostgreSQL's. */
const FLUSH_TRACES_UNTIL_MS = 6_000;
/** They get so long also after a slow drain. */
const LEAST_FLUSH_MS = 500;
/** How soon a replica learns the label values that another one accepted. */
const LEARN_EVERY_MS = 5_000;

export interface Service {
  readonly publicUrl: string;
  readonly adminUrl: string;
  readonly databaseUrl: string;
  /** Resolves when PostgreSQL, if it is the embedded one, has died by itself. */
  readonly failed: Promise<Error>;
  /** Takes no more, flushes what was taken, closes everything. */
  stop(): Promise<void>;
}

/**
 * Starts everything: config → database → schema → store → ports. The only place that wires parts together.
 *
 * @param now SQL for the database's clock; tests move it across midnight
 * @throws what went wrong, in words for the person who starts it; nothing is left running
 */
export async function startService(config: Config, log: Log, now?: string): Promise<Service> {
  const closers: (() => Promise<void> | void)[] = [];
  let stopBeganAtMs = 0;
  const stop = async (): Promise<void> => {
    stopBeganAtMs = Date.now();
    for (const close of closers.splice(0).reverse()) {
      await Promise.resolve(close()).catch((error: unknown) => log.warn('closing a part failed', { error }));
    }
  };

  try {
    let databaseUrl = config.databaseUrl;
    let failed: Promise<Error> = new Promise(() => {});
    if (databaseUrl === null) {
      log.info('starting the embedded PostgreSQL', { data_dir: config.dataDir });
      const embedded = await startEmbedded({ dataDir: config.dataDir, log: (message) => log.info(message) });
      closers.push(() => embedded.stop());
      databaseUrl = embedded.url;
      failed = embedded.exited;
    }
    const pool = createPool(databaseUrl);
    closers.push(() => endPool(pool));
    await migrate(pool);

    const metrics = createMetrics();
    const labels = new Labels({
      known: config.knownValues,
      regionHeader: config.regionHeader,
      acceptValues: (values) => acceptLabelValues(pool, values, MAX_LABEL_VALUES),
    });
    // What the operator vouches for goes into the dictionary too: dashboards offer what stands there.
    const known = CAPPED_LABELS.flatMap((label) => config.knownValues[label].map((value) => ({ label, value })));
    labels.learn(await acceptLabelValues(pool, known, MAX_LABEL_VALUES));
    const learning = setInterval(() => {
      readLabelValues(pool).then(
        (values) => labels.learn(values),
        () => {},
      );
    }, LEARN_EVERY_MS);
    learning.unref();
    closers.push(() => clearInterval(learning));

    const statements = createStatements(now);
    const { otlpEndpoint, otlpHeaders, traceSampleRate: sampleRate } = config;
    const traces =
      otlpEndpoint === null
        ? null
        : new TraceExporter({ poster: createTracesPoster(otlpEndpoint, otlpHeaders), sampleRate, metrics, log });
    // Loading the SDK takes a third of a second, which a start without a collector need not wait for.
    const telemetry =
      otlpEndpoint === null ? null : (await import('./telemetry.ts')).startTelemetry(otlpEndpoint, otlpHeaders);
    closers.push(async () => {
      const deadlineMs = Math.max(LEAST_FLUSH_MS, stopBeganAtMs + FLUSH_TRACES_UNTIL_MS - Date.now());
      await Promise.all([traces?.close(deadlineMs), telemetry?.close(deadlineMs)]);
    });
    // Without a collector an exemplar leads to the stored request, and there is one of every request.
    const isLinked = traces === null ? undefined : (traceId: string) => traces.exports(traceId);
    const logRequest = createRequestLog(log, config.logRequests);
    const count: OnCommitted = (before, after) => {
      measure(metrics, labels, before, after, isLinked);
      traces?.take(before, after);
      logRequest?.(before, after);
    };
    const settlement = new Settlement({ pool, statements, joinWaitMs: config.joinWaitMs, log, onCommitted: count });
    const postgres = new PostgresStore({
      connectionString: databaseUrl,
      pool,
      statements,
      metrics,
      log,
      expectGateway: config.expectGateway,
      onCommitted: (before, after) => {
        count(before, after);
        settlement.remember(after);
      },
    });
    const screen = (halves: readonly Half[]) => labels.screen(halves);
    const spool = config.spoolMaxBytes === 0 ? null : await openSpool(config, log);
    const store = spool === null ? postgres : new SpoolingStore({ store: postgres, spool, screen, metrics, log });
    closers.push(() => store.close());
    const retention = createRetention(pool, config.retentionDays, log);
    await retention.runOnce();
    retention.start();
    settlement.start();
    const folding = createRollupFolding(pool, config.retentionDays, log);
    folding.start();
    closers.push(() => {
      folding.stop();
      retention.stop();
      settlement.stop();
    });

    const deps: IngestDeps = { store, labels, metrics, admission: new Admission(config.maxBytesInFlight) };
    const hotRoutes = new Map([
      ['/v1/beacons', beaconsRoute(config, deps)],
      ['/v1/server-timings', serverTimingsRoute(config, deps)],
      ['/v1/gateway-logs', gatewayLogsRoute(config, deps)],
      ['/v1/logs', otlpLogsRoute(config, deps)],
    ]);
    const adminServer = createServer(new Map(), createAdminApp(metrics, deps, log), log);
    const publicServer = createServer(hotRoutes, createApp(config, deps, log), log);
    telemetry?.watch(publicServer);
    const admin = await listen(adminServer, config.adminHost, config.adminPort, 'ADMIN_PORT');
    closers.push(() => admin.close(DRAIN_MS));
    const open = await listen(publicServer, config.host, config.port, 'PORT');
    closers.push(() => open.close(DRAIN_MS));
    log.info('ready', { public: open.url, admin: admin.url });
    if (config.tokens.length === 0) {
      log.warn('no INGEST_TOKEN is set: anybody on this machine may write; the service listens on loopback only');
    }
    return { publicUrl: open.url, adminUrl: admin.url, databaseUrl, failed, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** @throws with the variable to change named */
function openSpool({ dataDir, spoolMaxBytes: maxBytes }: Config, log: Log): Promise<Spool> {
  return Spool.open({ root: path.join(dataDir, 'spool'), maxBytes, log }).catch((error: unknown) => {
    throw new Error('DATA_DIR cannot be written; name another one, or set SPOOL_MAX_BYTES=0 to do without the spool', {
      cause: error,
    });
  });
}
