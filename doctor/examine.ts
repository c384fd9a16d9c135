import { checkClock } from './checks/clock.ts';
import { checkCollector } from './checks/collector.ts';
import { checkCoverage } from './checks/coverage.ts';
import { checkDatabase } from './checks/database.ts';
import { checkDisk } from './checks/disk.ts';
import { checkGrafana } from './checks/grafana.ts';
import { checkAppOrigin, checkOrigin } from './checks/origin.ts';
import { checkAdminPort, checkPublicPort, checkReadiness } from './checks/ports.ts';
import { checkPrometheus } from './checks/prometheus.ts';
import { checkBuffering, checkHeader } from './checks/stream.ts';
import { checkToken } from './checks/token.ts';
import { type Finding, fault, skipped } from './finding.ts';
import { readStream } from './readStream.ts';
import type { Target } from './target.ts';

export const CHECKS = [
  'public port',
  'readiness',
  'admin port',
  'token',
  'origin',
  'clock',
  'app',
  'header',
  'buffering',
  'app origin',
  'coverage',
  'prometheus',
  'grafana',
  'collector',
  'database',
  'disk',
] as const;
export type CheckName = (typeof CHECKS)[number];

export interface NamedFinding extends Finding {
  readonly check: CheckName;
}

/**
 * Looks at everything that the target names, one after the other. Reads only, but for one request to the application, where one is
 * named, which is then measured and stored like any other.
 */
export async function examine(target: Target, onStep: (check: CheckName) => void = () => {}): Promise<NamedFinding[]> {
  const findings: NamedFinding[] = [];
  const look = async (check: CheckName, examination: () => Finding | Promise<Finding>): Promise<boolean> => {
    onStep(check);
    const finding = await examination();
    findings.push({ check, ...finding });
    return finding.verdict === 'good';
  };
  const unless = (blocked: string | null, examination: () => Finding | Promise<Finding>) => () =>
    blocked === null ? examination() : notAsked(blocked);

  const publicAnswers = await look('public port', () => checkPublicPort(target));
  const noService = publicAnswers ? null : 'The service is not reached';
  await look(
    'readiness',
    unless(noService, () => checkReadiness(target)),
  );
  const adminAnswers =
    target.adminUrl === null
      ? await look('admin port', () => notAsked('No admin address', '--admin <address>'))
      : await look('admin port', () => checkAdminPort(target));
  await look(
    'token',
    unless(noService, () => checkToken(target)),
  );
  if (target.origin === null) await look('origin', () => notAsked('No origin of pages', '--origin <origin>'));
  else
    await look(
      'origin',
      unless(noService, () => checkOrigin(target)),
    );
  await look(
    'clock',
    unless(noService, () => checkClock(target)),
  );

  await examineApp(target, look);

  await look(
    'coverage',
    unless(adminAnswers ? null : 'The metrics are not reached', () => checkCoverage(target)),
  );
  const { prometheusUrl, grafana, collectorUrl, databaseUrl, dataDir } = target;
  const optional = [
    ['prometheus', prometheusUrl, () => checkPrometheus(target), 'No Prometheus', '--prometheus <address>'],
    ['grafana', grafana, () => checkGrafana(target), 'No Grafana', '--grafana <address>'],
    ['collector', collectorUrl, () => checkCollector(target), 'No collector', '--collector <address>'],
    ['database', databaseUrl, () => checkDatabase(target), 'No database', '--database <address>'],
    ['disk', dataDir, () => checkDisk(target), 'No data folder', '--data-dir <folder>'],
  ] as const;
  for (const [check, given, examination, absent, option] of optional)
    await look(check, () => (given === null ? notAsked(absent, option) : examination()));
  return findings;
}

async function examineApp(
  target: Target,
  look: (check: CheckName, examination: () => Finding | Promise<Finding>) => Promise<boolean>,
): Promise<void> {
  const { app } = target;
  if (app === null) {
    await look('app', () => notAsked('No address of your application', '--app <address>'));
    return;
  }
  const stream = await readStream(app);
  if (stream.kind === 'unreachable') {
    await look('app', () =>
      fault(`The application is not reached at ${app.url}: ${stream.why}.`, 'Start it, or mend --app.'),
    );
    return;
  }
  await look('header', () => checkHeader(target, stream));
  await look('buffering', () => checkBuffering(stream));
  // Of an address that is not there, nobody has to allow anything.
  if (target.origin !== null && stream.status !== 404) await look('app origin', () => checkAppOrigin(target));
}

function notAsked(what: string, option?: string): Finding {
  return option === undefined
    ? skipped(`${what}: not looked at.`)
    : skipped(`${what} is named: not looked at.`, option);
}
