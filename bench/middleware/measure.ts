import http from 'node:http';
import type { Prompt } from './app.ts';
import { median } from './statistics.ts';
import { ofEach, orderOfTurn, type Variant } from './variants.ts';

interface Answer {
  readonly firstTokenUs: number;
  readonly totalUs: number;
  readonly bytes: number;
}

export interface LoadResult {
  /** Median time of one answer, from the request to its last byte. */
  readonly answerUs: number;
  /** Of all bodies together: the same for every variant. */
  readonly bytes: number;
}

export interface Load {
  readonly port: number;
  readonly answers: number;
  readonly concurrency: number;
  readonly pauseMs: number;
  readonly tokens: number;
}

function ask(agent: http.Agent, port: number, pauseMs: number, tokens: number): Promise<Answer> {
  const prompt: Prompt = { model: 'llama-3-70b', pauseMs, tokens };
  const body = JSON.stringify(prompt);
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
    const startedAt = process.hrtime.bigint();
    const elapsedUs = () => Number(process.hrtime.bigint() - startedAt) / 1e3;
    const req = http.request({ agent, host: '127.0.0.1', port, method: 'POST', headers }, (res) => {
      let firstTokenUs = 0;
      let bytes = 0;
      res.on('data', (chunk: Buffer) => {
        firstTokenUs ||= elapsedUs();
        bytes += chunk.length;
      });
      res.on('error', reject);
      res.on('end', () => resolve({ firstTokenUs, totalUs: elapsedUs(), bytes }));
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Asks for answers, so many at the same time. */
export async function load(
  agent: http.Agent,
  { port, answers, concurrency, pauseMs, tokens }: Load,
): Promise<LoadResult> {
  const totalsUs: number[] = [];
  let started = 0;
  let bytes = 0;
  const worker = async (): Promise<void> => {
    while (started++ < answers) {
      const answer = await ask(agent, port, pauseMs, tokens);
      totalsUs.push(answer.totalUs);
      bytes += answer.bytes;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return { answerUs: median(totalsUs), bytes };
}

/** Asks every variant for one answer after the other, so that whatever disturbs the machine disturbs all alike. */
export async function firstTokensUs(
  agent: http.Agent,
  ports: Record<Variant, number>,
  requests: number,
  tokens: number,
): Promise<Record<Variant, number>[]> {
  const all: Record<Variant, number>[] = [];
  for (let request = 0; request < requests; request++) {
    const times = ofEach(() => 0);
    for (const variant of orderOfTurn(request)) {
      times[variant] = (await ask(agent, ports[variant], 0, tokens)).firstTokenUs;
    }
    all.push(times);
  }
  return all;
}
