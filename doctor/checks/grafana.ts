import { DASHBOARDS, DATA_SOURCES } from '../../dashboards/config.ts';
import { ask } from '../ask.ts';
import { type Finding, fault, good } from '../finding.ts';
import type { Target } from '../target.ts';

/** Without these nothing is drawn. Tempo and Loki are only led to. */
const NEEDED = [DATA_SOURCES.prometheus, DATA_SOURCES.postgres];

/** Grafana has the data sources, they work, and it has the dashboards. Reads only. */
export async function checkGrafana({ grafana }: Target): Promise<Finding> {
  const { url, authorization } = grafana!;
  const headers: Record<string, string> = authorization === null ? {} : { authorization };
  const get = (path: string) => ask(`${url}${path}`, { headers });

  const sources = await get('/api/datasources');
  if (sources.kind === 'unreachable')
    return fault(`Grafana is not reached at ${url}: ${sources.why}.`, 'Start it, or mend --grafana.');
  if (sources.status === 401 || sources.status === 403) {
    return fault(
      `Grafana refuses to list its data sources (${sources.status}).`,
      'Give a service account token with the role Admin as GRAFANA_TOKEN, or the password of admin as GRAFANA_ADMIN_PASSWORD.',
    );
  }
  if (!Array.isArray(sources.json))
    return fault(`What answers at ${url} is no Grafana (status ${sources.status}).`, 'Mend --grafana.');
  const uids = new Set((sources.json as readonly { uid?: string }[]).map(({ uid }) => uid));
  const missing = NEEDED.filter(({ uid }) => !uids.has(uid));
  if (missing.length > 0) {
    return fault(
      `Grafana lacks the data source ${missing.map(({ name, uid }) => `${name} (uid ${uid})`).join(' and ')}.`,
      'Mount provisioning/grafana/datasources, or choose your own in the hidden variables ds_prom and ds_pg (docs/dashboards.md).',
    );
  }
  for (const { name, uid } of NEEDED) {
    const health = await get(`/api/datasources/uid/${uid}/health`);
    if (health.kind === 'answered' && health.status === 200) continue;
    const why =
      health.kind === 'answered'
        ? ((health.json as { message?: string } | undefined)?.message ?? health.status)
        : health.why;
    return fault(
      `Grafana's data source ${name} does not work: ${why}.`,
      'Its address must be right from where Grafana runs; for PostgreSQL also the password of grafana_reader.',
    );
  }
  const found = await get('/api/search?type=dash-db&limit=5000');
  const known = new Set(
    (found.kind === 'answered' && Array.isArray(found.json) ? found.json : []).map(
      (each: { uid?: string }) => each.uid,
    ),
  );
  const absent = DASHBOARDS.filter(({ uid }) => !known.has(uid));
  if (absent.length > 0) {
    return fault(
      `Grafana lacks the dashboards ${absent.map(({ title }) => title).join(', ')}.`,
      'Mount provisioning/grafana/dashboards and dashboards.yaml as compose.yaml does.',
    );
  }
  return good(`Grafana has its data sources and ${DASHBOARDS.length} dashboards.`);
}
