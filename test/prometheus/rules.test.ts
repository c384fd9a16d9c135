import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RECORDING_RULES } from '../../contract/metrics.ts';
import { promtool, ROOT, RULE_FILES, testRules } from './rulesTool.ts';

/** A cumulative histogram whose every bucket grows by so many a minute. */
function histogram(name: string, labels: string, perMinute: Readonly<Record<string, number>>, minutes = 90): object[] {
  return Object.entries(perMinute).map(([le, count]) => ({
    series: le === 'count' ? `${name}_count{${labels}}` : `${name}_bucket{${labels}, le="${le}"}`,
    values: `0+${count}x${minutes}`,
  }));
}

test('promtool accepts the rules and the configuration', async () => {
  const output = await promtool('check', 'rules', '--lint=all', '--lint-fatal', ...RULE_FILES);
  expect(output.match(/\d+ rules found/g)).toEqual(['14 rules found', '12 rules found']);
  await promtool('check', 'config', join(ROOT, 'provisioning/prometheus/prometheus.yml'));
});

const ttft = { '0.5': 25, '1.0': 45, '1.5': 48, '2.0': 49.5, '2.5': 50, '+Inf': 50, count: 50 };
const tpot = { '0.08': 50, '0.1': 80, '0.11': 100, '+Inf': 100 };

test.each([
  // Of 100 a minute, split over two routes: 90 within 1 s, 96 within 1.5 s, 99 within 2 s.
  ['ttft_p95', '{model="m"}', 1 + (0.5 * 5) / 6],
  ['ttft_p999', '{model="m"}', 2.45],
  ['ttft_over_1s_ratio', '{model="m"}', 0.1],
  ['ttft_over_2s_ratio', '{model="m"}', 0.01],
  ['ttft_client_p95', '{model="m", region="eu"}', 1 + (0.5 * 5) / 6],
  ['tpot_p90', '{model="m", tier="vip"}', 0.105],
  ['tpot_p999', '{model="m", tier="vip"}', 0.10995],
  ['tpot_stddev', '{model="m"}', 0.0125],
  ['stream_gap_max', '{model="m"}', 0.39],
] as const)('%s', async (record, labels, value) => {
  const input_series = [
    ...histogram('ttft_seconds', 'model="m", route="/a"', ttft),
    ...histogram('ttft_seconds', 'model="m", route="/b"', ttft),
    ...histogram('ttft_client_seconds', 'model="m", region="eu", device="mobile"', ttft),
    ...histogram('tpot_seconds', 'model="m", tier="vip", device="mobile"', tpot),
    ...histogram('tpot_stddev_seconds', 'model="m", device="mobile"', { '0.01': 90, '0.015': 100, '+Inf': 100 }),
    ...histogram('stream_gap_max_seconds', 'model="m", device="mobile"', { '0.3': 90, '0.4': 100, '+Inf': 100 }),
  ];
  const rounded = Math.round(value * 1e6) / 1e6;
  await testRules({
    input_series,
    promql_expr_test: [
      { expr: `round(${record} * 1e6) / 1e6`, eval_time: '80m', exp_samples: [{ labels, value: rounded }] },
      { expr: `count({__name__="${record}"})`, eval_time: '80m', exp_samples: [{ labels: '{}', value: 1 }] },
    ],
  });
});

test('every figure has a rule', async () => {
  const input_series = [
    ...histogram('ttft_seconds', 'model="m"', ttft),
    ...histogram('ttft_client_seconds', 'model="m", region="eu"', ttft),
    ...histogram('tpot_seconds', 'model="m", tier="vip"', tpot),
    ...histogram('tpot_stddev_seconds', 'model="m"', tpot),
    ...histogram('stream_gap_max_seconds', 'model="m"', tpot),
  ];
  const expr = `count({__name__=~"${RECORDING_RULES.join('|')}"})`;
  const exp_samples = [{ labels: '{}', value: RECORDING_RULES.length }];
  await testRules({ input_series, promql_expr_test: [{ expr, eval_time: '80m', exp_samples }] });
});

const FIRING = {
  exp_labels: { severity: 'page', model: 'llama 3' },
  exp_annotations: {
    summary: 'TTFT p95 of llama 3 is 1.95 s',
    description:
      'Over the last hour more than one request in twenty to llama 3 waited longer than 1 s for its first token. ' +
      'The waterfall of the dashboard names the stage that takes the time.',
    runbook_url: 'docs/runbook.md#ttftp95high',
    dashboard_url: 'http://localhost:3000/d/first-token?viewPanel=2&var-model=llama+3',
  },
};
const at = (eval_time: string, ...exp_alerts: object[]) => ({ eval_time, alertname: 'TtftP95High', exp_alerts });
const slow = (perMinute: number) => ({ '1.0': 0, '2.0': perMinute, '+Inf': perMinute, count: perMinute });

test('the alert waits five minutes, fires, and ends when the hour is good again', async () => {
  const series = (suffix: string, values: string) => ({ series: `ttft_seconds_${suffix}`, values });
  await testRules({
    input_series: [
      // For an hour every request takes 1 to 2 s, then none takes over 1 s.
      series('bucket{model="llama 3", le="1.0"}', '0x60 100+100x119'),
      series('bucket{model="llama 3", le="2.0"}', '0+100x180'),
      series('bucket{model="llama 3", le="+Inf"}', '0+100x180'),
      series('count{model="llama 3"}', '0+100x180'),
    ],
    alert_rule_test: [at('4m'), at('30m', FIRING), at('60m', FIRING), at('130m'), at('180m')],
  });
});

test('a slow hour with little traffic stays quiet', async () => {
  await testRules({
    input_series: histogram('ttft_seconds', 'model="llama 3"', slow(1)),
    alert_rule_test: [at('30m'), at('80m')],
  });
});

test('just enough traffic counts, and another model cannot lend its own', async () => {
  await testRules({
    input_series: [
      ...histogram('ttft_seconds', 'model="llama 3"', slow(2)),
      ...histogram('ttft_seconds', 'model="rare"', slow(1)),
      ...histogram('ttft_seconds', 'model="busy"', { '1.0': 500, '2.0': 500, '+Inf': 500, count: 500 }),
    ],
    alert_rule_test: [at('80m', FIRING)],
  });
});

test('exactly at the threshold nothing fires', async () => {
  await testRules({
    input_series: histogram('ttft_seconds', 'model="llama 3"', { '1.0': 95, '1.5': 100, '+Inf': 100, count: 100 }),
    alert_rule_test: [at('80m')],
  });
});
