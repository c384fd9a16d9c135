/** The client in a process of its own, so that its work is not counted as the server's: does one order of its parent after another. */
import http from 'node:http';
import { firstTokensUs, type Load, type LoadResult, load } from './measure.ts';
import type { Variant } from './variants.ts';

export type Order =
  | ({ readonly kind: 'load' } & Load)
  | {
      readonly kind: 'firstToken';
      readonly ports: Record<Variant, number>;
      readonly requests: number;
      readonly tokens: number;
    };

export type Result = LoadResult | { readonly firstTokens: Record<Variant, number>[] };

const agent = new http.Agent({ keepAlive: true });
process.on('message', async (order: Order) => {
  if (order.kind === 'load') process.send!(await load(agent, order));
  else process.send!({ firstTokens: await firstTokensUs(agent, order.ports, order.requests, order.tokens) });
});
process.on('disconnect', () => process.exit());
