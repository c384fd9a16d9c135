import { METRICS } from '../../contract/metrics.ts';
import { BAND_LABELS, completionByBandSql } from '../queries/completionByBand.ts';
import { joinCoverage as joinCoverageExpression } from '../queries/joinCoverage.ts';
import { filteredBy, variableMatchers } from '../queries/matchers.ts';
import { PostgresQuery } from '../queries/postgresQuery.ts';
import { curveQuery } from '../queries/prometheusQuery.ts';
import { quantileCurves } from '../queries/quantileCurves.ts';
import { SECONDS_THRESHOLDS } from '../rules/thresholds.ts';
import { bars } from './bars.ts';
import { curves, withThresholdLines } from './curves.ts';

export function tpotCurves() {
  const panel = curves(
    {
      title: 'TPOT',
      unit: 's',
      description:
        `Time per output token after the first. ${filteredBy(METRICS.tpot)} Good: p90 under 0.11 s, and p99 under two and a half times the p50. ` +
        '0.2 to 0.3 s per token is the pace of a reader; over 0.4 s the text stutters. If p99 leaves p50 behind, some streams share their batch with long prompts.',
    },
    ...quantileCurves(METRICS.tpot, [0.5, 0.9, 0.99], { matchers: variableMatchers(METRICS.tpot) }),
  );
  return withThresholdLines(panel, SECONDS_THRESHOLDS.tpot_p90);
}

export function hiddenTax() {
  return curves(
    {
      title: 'Hidden tax',
      unit: 's',
      description:
        'Client TTFT minus server TTFT of joined requests: what the server cannot see, that is upload, gateway and network. ' +
        `${filteredBy(METRICS.hiddenTax)} Good: p50 under 0.15 s and flat. If it jumps everywhere, a proxy buffers or a gateway is full; ` +
        'if in one region, it is the way there. It is counted when a request settles, up to a minute later.',
    },
    ...quantileCurves(METRICS.hiddenTax, [0.5, 0.95], { matchers: variableMatchers(METRICS.hiddenTax) }),
  );
}

export function firstScreen() {
  return curves(
    {
      title: 'First screen',
      unit: 's',
      description:
        `Arrival of output token 50, when there is something to read. ${filteredBy(METRICS.firstScreen)} Good: p50 under 5 s. It is TTFT plus 49 tokens: ` +
        'if TTFT is fine and this is not, the engine is slow per token, and a shorter first answer helps more than a faster start.',
    },
    ...quantileCurves(METRICS.firstScreen, [0.5, 0.95], { matchers: variableMatchers(METRICS.firstScreen) }),
  );
}

export function completionByBand() {
  return bars(
    {
      title: 'Completion by TTFT',
      unit: 'percentunit',
      description:
        `Share of the ended streams that were read to their end, by how long their first token took: ${BAND_LABELS.join(', ')}. Up to 100 ms feels ` +
        'instant, up to 300 ms prompt, and after a second attention wanders. In brackets the number of streams. Good: level bars. If the last bar is ' +
        'lower, waiting costs you readers: that is what a faster first token would win back. Suspended machines are left out. Beyond three hours, unless ' +
        'narrowed by more than the variant, it counts whole hours, from the rollups.',
    },
    new PostgresQuery(completionByBandSql()),
    'ttft',
  )
    .min(0)
    .max(1)
    .noValue('no streams');
}

export function joinCoverage() {
  return curves(
    {
      title: 'Join coverage',
      unit: 'percentunit',
      description:
        'Share of the settled requests with a client half that have a server half too. Not filtered by the variables. Good: over 90 %. If it falls, ' +
        'the middleware is missing somewhere, its write token is wrong, or ids do not reach the browser: look at rejects in Ingest health. ' +
        'Below it, attribution speaks for a part of the requests only.',
    },
    curveQuery('A', `${joinCoverageExpression('$__rate_interval')} >= 0`, 'joined'),
  ).max(1);
}
