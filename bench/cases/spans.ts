import { encodeRequest, encodeTrace } from '../../ingest/export/encodeTrace.ts';
import { countStages } from '../../ingest/export/placeStages.ts';
import { exampleClient, exampleServer } from '../../ingest/pipeline/exampleHalves.ts';
import { joinHalf } from '../../ingest/pipeline/join.ts';
import { type Figure, ratios } from '../figure.ts';
import { median } from '../middleware/statistics.ts';
import { stockSpans } from '../stockSpans.ts';
import type { World } from '../world.ts';

const REQUESTS = 20_000;
const PER_BATCH = 64;

/** A span from its making to its bytes, against one of the stock SDK in the stock exporter's JSON. */
export async function spans(world: World): Promise<Figure[]> {
  const row = joinHalf(joinHalf(null, exampleServer()), exampleClient({ ttft_ms: 90, end_ms: 500 }));
  const perRequest = 1 + countStages(row, null);
  const makeStock = stockSpans();
  const usPerSpan = (make: () => number): number => {
    const beganMs = performance.now();
    for (let at = 0; at < REQUESTS; at += PER_BATCH) make();
    return ((performance.now() - beganMs) * 1e3) / (REQUESTS * perRequest);
  };
  const ours = () => usPerSpan(() => encodeRequest(Array.from({ length: PER_BATCH }, () => encodeTrace(row))).length);
  const stock = () => usPerSpan(() => makeStock(PER_BATCH * perRequest));
  ours();
  stock();
  const [mine, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < world.rounds; round++) {
    mine.push(ours());
    theirs.push(stock());
  }
  return [
    {
      id: 'spans/encode',
      what: 'one exported span, making to bytes',
      baseline: 'the stock SDK and JSON exporter',
      unit: '×',
      rounds: ratios(mine, theirs),
      goal: { is: 'at most', value: 0.4 },
      raw: { µs: median(mine), 'stock µs': median(theirs), 'spans of a request': perRequest },
    },
  ];
}
