import { INGEST_JOB } from '../../dashboards/config.ts';
import { ask } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';

interface ScrapeTarget {
  readonly scrapeUrl: string;
  readonly health: string;
  readonly lastError: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** A figure that only our rule file records. */
const RECORDED = 'ttft_p95';
const SCRAPE_ADVICE = `Add the job ${INGEST_JOB} with the admin address of each replica: provisioning/prometheus/prometheus.yml shows it.`;

/** Prometheus answers, scrapes the service, and has the rules. */
export async function checkPrometheus({ prometheusUrl, adminUrl }: Target): Promise<Finding> {
  const targets = await ask(`${prometheusUrl}/api/v1/targets?state=active`);
  if (targets.kind === 'unreachable') {
    return fault(`Prometheus is not reached at ${prometheusUrl}: ${targets.why}.`, 'Start it, or mend --prometheus.');
  }
  const active = (targets.json as { data?: { activeTargets?: readonly ScrapeTarget[] } } | undefined)?.data
    ?.activeTargets;
  if (active === undefined) {
    return fault(`What answers at ${prometheusUrl} is no Prometheus (status ${targets.status}).`, 'Mend --prometheus.');
  }
  const ours = active.filter(
    ({ labels, scrapeUrl }) =>
      labels['job'] === INGEST_JOB || (adminUrl !== null && scrapeUrl === `${adminUrl}/metrics`),
  );
  if (ours.length === 0) return fault('Prometheus does not scrape the service.', SCRAPE_ADVICE);
  const down = ours.filter(({ health }) => health === 'down');
  if (down.length > 0) {
    const [{ scrapeUrl, lastError }] = down as [ScrapeTarget];
    return fault(
      `Prometheus cannot scrape ${scrapeUrl}${down.length > 1 ? ` and ${down.length - 1} more` : ''}: ${lastError}.`,
      'Is the address right from where Prometheus runs? ADMIN_HOST must be reachable from there: the standard is loopback.',
    );
  }
  const rules = await ask(`${prometheusUrl}/api/v1/rules`);
  if (rules.kind === 'answered' && !rules.text.includes(`"name":"${RECORDED}"`)) {
    return fault(
      'Prometheus scrapes the service, but has none of its rules.',
      'Copy provisioning/prometheus/rules/firsttoken.yaml beside its configuration and name it in rule_files.',
    );
  }
  return good(`Prometheus scrapes ${ours.map(({ scrapeUrl }) => scrapeUrl).join(', ')} and has the rules.`);
}
