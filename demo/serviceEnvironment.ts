import { createServer } from 'node:net';
import path from 'node:path';
import { LABELS_OF_PLANS } from './plan.ts';

export interface ServiceSettings {
  readonly token: string;
  readonly dataDir: string;
  /** Gets its log. */
  readonly logFolder: string;
}

/** Settings of a real installation that must not reach a demo: above all, its database. */
const NOT_FOR_DEMOS = [
  'DATABASE_URL',
  'BEACON_ORIGINS',
  'TRUST_PROXY_HOPS',
  'REGION_HEADER',
  'CARRIER_HEADER',
  'EXPECT_GATEWAY',
  'JOIN_WAIT',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
];

/**
 * The environment of the demo's service: loopback, its own database, a token made for this run, and the usual ports where they are
 * free.
 */
export async function serviceEnvironment(
  env: NodeJS.ProcessEnv,
  settings: ServiceSettings,
): Promise<NodeJS.ProcessEnv> {
  const inherited = Object.fromEntries(Object.entries(env).filter(([name]) => !NOT_FOR_DEMOS.includes(name)));
  return {
    // Each request leaves a line under its trace id, beside those of nginx and the backend.
    LOG_FILE: path.join(settings.logFolder, 'ingest.json.log'),
    LOG_REQUESTS: 'all',
    ...inherited,
    HOST: '127.0.0.1',
    ADMIN_HOST: '127.0.0.1',
    PORT: await usablePort(env['PORT'], 8080),
    ADMIN_PORT: await usablePort(env['ADMIN_PORT'], 9464),
    DATA_DIR: settings.dataDir,
    INGEST_TOKEN: settings.token,
    EXPECT_GATEWAY: 'true',
    // All simulated clients share one address.
    BEACON_RATE: '0',
    // Beacons that come before the first server record shall find their labels known.
    KNOWN_MODELS: LABELS_OF_PLANS.model.join(','),
    KNOWN_ROUTES: LABELS_OF_PLANS.route.join(','),
    KNOWN_VARIANTS: LABELS_OF_PLANS.variant.join(','),
    KNOWN_TIERS: LABELS_OF_PLANS.tier.join(','),
    KNOWN_REGIONS: LABELS_OF_PLANS.region.join(','),
  };
}

/** The port asked for, or 0 (any) when it is taken. What is no port goes through: the service says what is wrong with it. */
export async function usablePort(given: string | undefined, standard: number): Promise<string> {
  const wanted = given?.trim() || String(standard);
  const port = /^\d{1,5}$/.test(wanted) ? Number(wanted) : -1;
  if (port < 0 || port > 65_535) return wanted;
  return (await isFree(port)) ? wanted : '0';
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
