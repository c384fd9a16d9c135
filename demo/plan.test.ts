import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CONNECTIONS, DEVICES } from '../contract/beacon.ts';
import { planRequest, type RequestPlan } from './plan.ts';
import { SCENARIO_NAMES, scenarioWeights } from './scenarios.ts';

const plans: readonly RequestPlan[] = Array.from({ length: 6_000 }, (_, index) => planRequest(7, index, false));

function percentile(values: readonly number[], share: number): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length * share)]!;
}
const share = (test: (plan: RequestPlan) => boolean, of = plans): number => of.filter(test).length / of.length;

describe('planRequest', () => {
  it('follows from seed, number and pulse alone, with numbers that make sense', () => {
    fc.assert(
      fc.property(fc.nat(), fc.nat(), fc.boolean(), (seed, index, pulse) => {
        const plan = planRequest(seed, index, pulse);
        expect(planRequest(seed, index, pulse)).toEqual(plan);
        for (const value of Object.values(plan)) {
          if (typeof value === 'number') expect(value >= 0 && value < 1e10 && Number.isFinite(value)).toBe(true);
        }
        expect(DEVICES).toContain(plan.device);
        expect(CONNECTIONS).toContain(plan.connection);
        expect(plan.preprocessMs).toBeGreaterThanOrEqual(plan.parseMs);
        expect(plan.reasoningTokens).toBeLessThan(plan.outputTokens);
        expect(plan.interruptAfterEvents).toBeGreaterThanOrEqual(1);
        expect(plan.interruptAfterEvents).toBeLessThan(Math.ceil(plan.outputTokens / plan.tokensPerEvent));
        expect(plan.connectMs > 0).toBe(plan.device === 'mobile');
      }),
    );
  });

  it('keeps the stages of normal requests to their percentiles', () => {
    const normal = plans.filter(({ scenario }) => scenario === 'normal');
    const expectRange = (of: (plan: RequestPlan) => number, p10: number, p90: number): void => {
      expect(Math.abs(percentile(normal.map(of), 0.1) / p10 - 1)).toBeLessThan(0.12);
      expect(Math.abs(percentile(normal.map(of), 0.9) / p90 - 1)).toBeLessThan(0.12);
    };
    expectRange((plan) => plan.preprocessMs, 186, 420);
    expectRange((plan) => plan.kvLoadMs, 92, 210);
    expectRange((plan) => plan.firstForwardMs, 15, 42);
    expectRange((plan) => plan.serializeMs, 3, 12);
    expectRange((plan) => plan.gatewayHoldMs, 12, 48);
    expectRange((plan) => plan.parseMs, 8, 35);
    const queues = normal.map(({ queueMs }) => queueMs);
    expect(percentile(queues, 0.1)).toBe(0);
    expect(Math.abs(percentile(queues, 0.9) / 180 - 1)).toBeLessThan(0.12);
    const tokenMs = plans.map((plan) => plan.tokenMs);
    expect(tokenMs.reduce((sum, ms) => sum + ms, 0) / tokenMs.length / 80).toBeCloseTo(1, 1);
  });

  it('has the three kinds of prompt, mostly short answers and a few long ones', () => {
    expect(share(({ promptChars }) => promptChars < 50)).toBeCloseTo(0.2, 1);
    expect(share(({ promptChars }) => promptChars >= 50 && promptChars <= 200)).toBeCloseTo(0.6, 1);
    expect(share(({ promptChars }) => promptChars > 200)).toBeCloseTo(0.2, 1);
    expect(share(({ outputTokens }) => outputTokens >= 20 && outputTokens <= 80)).toBeGreaterThan(0.7);
    const long = share(({ outputTokens }) => outputTokens > 120);
    expect(long).toBeGreaterThan(0.01);
    expect(long).toBeLessThan(0.05);
  });

  it('shows every scenario, and queues above all in a pulse', () => {
    expect(new Set(plans.map(({ scenario }) => scenario))).toEqual(new Set(SCENARIO_NAMES));
    const inPulse = Array.from({ length: 1_000 }, (_, index) => planRequest(7, index, true));
    const burst = ({ scenario }: RequestPlan): boolean => scenario === 'queue_burst';
    expect(share(burst, inPulse)).toBeGreaterThan(5 * share(burst));
  });

  it('gives large batches the lower median and the longer tail', () => {
    const firstForward = (name: string): number[] =>
      Array.from({ length: 40_000 }, (_, index) => planRequest(3, index, false))
        .filter(({ scenario }) => scenario === name)
        .map(({ firstForwardMs }) => firstForwardMs);
    const [eight, two] = [firstForward('batch_of_8'), firstForward('batch_of_2')];
    expect(percentile(eight, 0.5)).toBeLessThan(percentile(two, 0.5));
    expect(percentile(eight, 0.99)).toBeGreaterThan(2 * percentile(two, 0.99));
  });
});

describe('scenarioWeights', () => {
  it('are positive', () => {
    for (const pulse of [false, true]) expect(scenarioWeights(pulse).every(([, weight]) => weight > 0)).toBe(true);
  });
});
