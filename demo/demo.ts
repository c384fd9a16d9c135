import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { startCompanions } from '../native/companions.ts';
import type { PreviewOptions } from '../preview/server.ts';
import type { DemoOptions } from './arguments.ts';
import { showBackfill } from './backfill/showBackfill.ts';
import { createBeaconSender } from './beaconSender.ts';
import { startBrowserTraffic } from './browserTraffic.ts';
import { createFigureReader } from './figures.ts';
import type { PreviewReady } from './preview.ts';
import { createProgress } from './progress.ts';
import { createPlainScreen, createTerminalScreen, type Screen } from './screen.ts';
import type { ServiceReady } from './service.ts';
import { serviceEnvironment } from './serviceEnvironment.ts';
import type { ServingReady, ServingReport } from './serving.ts';
import { aborted, type StopSignals, watchStopSignals } from './signals.ts';
import { startChild } from './startChild.ts';
import { startTraffic } from './traffic.ts';
import { faultsOf } from './verdict.ts';

/** The longest answers take a quarter of a minute; what is still open then is left, as by closing pages. */
const DRAIN_WITHIN_MS = 20_000;
/** Records of the middleware are posted within seconds of the end of their stream. */
const JOIN_WITHIN_MS = 15_000;
const FORCED_STOP_WITHIN_MS = 3_000;
const STOPPED_BY_SIGNAL = 130;

type Stop = (withinMs?: number) => Promise<void>;

/** Runs the demo to its end. @returns the exit code */
export async function runDemo(options: DemoOptions): Promise<number> {
  const plain = options.plain || !process.stdout.isTTY || Boolean(process.env['NO_COLOR']);
  const screen = plain ? createPlainScreen(process.stdout) : createTerminalScreen(process.stdout);
  const signals = watchStopSignals();
  const stops: Stop[] = [];
  const stopAll = async (): Promise<void> => {
    const withinMs = signals.forced.aborted ? FORCED_STOP_WITHIN_MS : undefined;
    // Last started, first stopped: the middleware still posts while the service listens.
    for (const stop of stops.splice(0).reverse()) await stop(withinMs);
  };
  try {
    return await run(options, screen, plain, signals, stops);
  } catch (error) {
    if (signals.asked.aborted) {
      screen.say('stopped');
      return STOPPED_BY_SIGNAL;
    }
    screen.say(`demo: ${error instanceof Error ? error.message : String(error)}`);
    return 1;
  } finally {
    await stopAll();
    screen.close();
    signals.close();
  }
}

async function run(
  options: DemoOptions,
  screen: Screen,
  plain: boolean,
  signals: StopSignals,
  stops: Stop[],
): Promise<number> {
  const beganMs = performance.now();
  const token = randomBytes(16).toString('base64url');
  const dataDir = process.env['DATA_DIR']?.trim() || path.join('.data', 'demo');

  const logFolder = path.resolve(dataDir, 'logs');
  mkdirSync(logFolder, { recursive: true });
  screen.say(`starting PostgreSQL and the ingest service in ${dataDir} …`);
  const environment = await serviceEnvironment(process.env, { token, dataDir, logFolder });
  const service = await startChild<ServiceReady>('service.ts', {}, environment, signals.asked);
  stops.push(service.stop);
  const { publicUrl, adminUrl, databaseUrl } = service.ready;
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  screen.say(`  up after ${seconds} s; reports to ${publicUrl}`);
  screen.say(`  metrics on ${adminUrl}`);

  const say = (line: string): void => screen.say(`  ${line}`);
  const companions = await startCompanions({ prometheus: true, grafana: true, dataDir, adminUrl, databaseUrl, say });
  stops.push(companions.stop);
  const { prometheusUrl } = companions;
  const previewInput: PreviewOptions = { databaseUrl, prometheusUrl, logFolder };
  const preview = await startChild<PreviewReady>('preview.ts', previewInput, process.env, signals.asked);
  stops.push(preview.stop);
  screen.say(`  dashboards on ${preview.ready.url}`);

  if (options.backfillHours > 0)
    await showBackfill(
      databaseUrl,
      { ...options, hours: options.backfillHours },
      { screen, plain, signal: signals.asked },
    );

  screen.say('starting the simulated backend and its gateway …');
  const servingInput = { seed: options.seed, ingestUrl: publicUrl, token, logFolder };
  const serving = await startChild<ServingReady, ServingReport>('serving.ts', servingInput, process.env, signals.asked);
  stops.push(serving.stop);
  const { gatewayUrl, collectingPrefix, gateway, pageUrl } = serving.ready;
  screen.say(`  up: chat requests on ${gatewayUrl}`);
  screen.say(`  gateway: ${gateway}`);

  const reader = createFigureReader(databaseUrl);
  stops.push(reader.close);
  const since = await reader.now();
  const sender = createBeaconSender(publicUrl);
  const traffic = startTraffic({ ...options, gatewayUrl, collectingPrefix, send: sender.send });
  stops.push(async () => {
    traffic.stopStarting();
    await traffic.drain(0);
  });
  const browser = pageUrl === null ? null : startBrowserTraffic(pageUrl, path.resolve(dataDir, 'native/chromium'), say);
  stops.push(async () => browser?.stop());
  const progress = createProgress({
    options,
    plain,
    screen,
    reader,
    since,
    sender,
    traffic,
    serving,
    links: {
      publicUrl,
      adminUrl,
      token,
      companions,
      previewUrl: preview.ready.url,
      pageUrl,
      logFolder: path.relative('', logFolder),
    },
  });
  stops.push(progress.stop);

  const died = Promise.race([service.ended, serving.ended, preview.ended]).then((how) => {
    throw new Error(how);
  });
  // A death after the end is no news.
  died.catch(() => undefined);
  const forced = aborted(signals.forced).then(() => {
    throw new Error('stopped');
  });
  forced.catch(() => undefined);
  const orEnd = <T>(work: Promise<T>): Promise<T> => Promise.race([work, died, forced]);

  await orEnd(Promise.race([traffic.startedAll, aborted(signals.asked)]));
  traffic.stopStarting();
  progress.phase = 'finishing; Ctrl-C ends it';
  const [, pageAnswers] = await orEnd(Promise.all([traffic.drain(DRAIN_WITHIN_MS), browser?.finish()]));
  progress.phase = 'waiting for the last halves';
  await orEnd(progress.joinedOrLate(JOIN_WITHIN_MS));
  const result = await orEnd(progress.finish());

  if (pageAnswers != null) screen.say(`In Chromium the chat page read ${pageAnswers} answers to their end.`);
  const faults = faultsOf(result);
  for (const fault of faults) screen.say(`demo: ${fault}`);
  if (faults.length === 0) screen.say('All joined, none rejected.');
  screen.say(`The rows stay: DATA_DIR=${dataDir} npm start serves them again.`);
  return faults.length === 0 ? 0 : 1;
}
