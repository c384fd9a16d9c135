import { randomBytes } from 'node:crypto';
import { BEACON_VERSION, type Beacon } from '../../contract/beacon.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';

const ROUTES = 200;
/** Share of posts that are sent a second time. */
const DUPLICATES = 0.01;
const MODELS = ['llama-3-70b', 'llama-3-8b', 'mixtral-8x7b', 'qwen-2-72b'];
const REGIONS = ['eu-west', 'us-east', 'ap-south', 'sa-east'];
const TIERS = ['free', 'pro'];
/** Most arrivals of a beacon, which makes bodies of 300 to 2,000 bytes. */
const MAX_ARRIVALS = 220;

export interface Post {
  readonly path: '/v1/beacons' | '/v1/server-timings';
  readonly body: string;
}

const pick = <T>(values: readonly T[]): T => values[Math.floor(Math.random() * values.length)]!;
const between = (low: number, high: number): number => low + Math.random() * (high - low);
const rounded = (value: number): number => Math.round(value * 100) / 100;

interface Shared {
  readonly trace_id: string;
  readonly model: string;
  readonly route: string;
  readonly variant: string;
  readonly tier: string;
  readonly prompt_tokens: number;
}

function draw(): Shared {
  return {
    trace_id: randomBytes(16).toString('hex'),
    model: pick(MODELS),
    // Some routes are asked for far more often than others.
    route: `/api/route-${Math.floor(ROUTES * Math.random() ** 2)}`,
    variant: pick(['control', 'candidate']),
    tier: pick(TIERS),
    prompt_tokens: Math.floor(between(10, 4_000)),
  };
}

function serverRecord(shared: Shared): ServerRecord {
  let atNs = 8_000_000_000_000 + Math.floor(Math.random() * 1e12);
  const stamps = Array.from({ length: 7 }, () => {
    atNs += Math.floor(between(1e5, 9e7));
    return atNs;
  });
  return {
    ...shared,
    timing_trace: stamps.join(','),
    started_at: new Date().toISOString(),
    backend: `pod-${Math.floor(Math.random() * 8)}`,
    cached_tokens: Math.floor(between(0, 10)),
    output_tokens: Math.floor(between(1, 900)),
    temperature: 0.7,
    batch_size: Math.floor(between(1, 32)),
    status: 200,
    parent_span_id: `a${randomBytes(8).toString('hex').slice(1)}`,
    ...(Math.random() < 0.3 && {
      sub_stages: { db: Math.floor(between(1e5, 1e7)), rank: Math.floor(between(1e5, 1e7)) },
    }),
  };
}

function beacon(shared: Shared): Beacon {
  // About 3 % are slower than a second: those leave a log line each, as the service is set up by default.
  const ttft = rounded(150 - Math.log(1 - Math.random()) * 250);
  let at = ttft;
  const arrivals = Array.from({ length: 1 + Math.floor(Math.random() * MAX_ARRIVALS) }, () => {
    const arrival = rounded(at);
    at += between(5, 60);
    return arrival;
  });
  const end = rounded(at + 1);
  return {
    ...shared,
    v: BEACON_VERSION,
    status: 'complete',
    seq: 1,
    since_start_ms: rounded(end + 5),
    ttft_ms: ttft,
    ttft_visible_ms: rounded(ttft + 8),
    end_ms: end,
    arrivals_ms: arrivals,
    output_tokens: arrivals.length,
    output_tokens_source: 'usage',
    render: { first_ms: rounded(ttft + 9), p50_ms: 4.5, max_ms: 17.25 },
    connection_ms: { dns: 0, tcp: 0, tls: 0, wait: rounded(ttft - 20) },
    region: pick(REGIONS),
    device: pick(['desktop', 'mobile', 'tablet']),
    connection: pick(['4g', 'wifi']),
  };
}

/** What is drawn once for some of a load's requests: all but the id, as it is printed behind it. */
interface Drawn {
  readonly server: string;
  readonly client: string;
}

const BEFORE_ID = '{"trace_id":"';
/** Drawing and printing takes ten times what an id does, and a load of many different ones differs no less. */
const MOST_DRAWN = 4_096;

function drawBoth(): Drawn {
  const shared = draw();
  const behindId = (half: object) => JSON.stringify(half).slice(BEFORE_ID.length + shared.trace_id.length);
  return { server: behindId(serverRecord(shared)), client: behindId(beacon(shared)) };
}

/**
 * Posts that make new requests: first the server's halves, one block later the clients', so that half of all events are second halves
 * whose first is committed.
 *
 * @param lines events of a post; several go as NDJSON
 */
export function makePosts(count: number, lines: number): Post[] {
  const block = Math.max(1, Math.min(256, count >> 2));
  const drawn = Array.from({ length: Math.min(MOST_DRAWN, count * lines) }, drawBoth);
  const posts: Post[] = [];
  while (posts.length < count) {
    const requests = Array.from({ length: block }, () =>
      Array.from({ length: lines }, () => ({ id: randomBytes(16).toString('hex'), ...pick(drawn) })),
    );
    const print = (half: keyof Drawn) => (each: (typeof requests)[number]) =>
      each.map((request) => BEFORE_ID + request.id + request[half]).join('\n');
    for (const body of requests.map(print('server'))) posts.push({ path: '/v1/server-timings', body });
    for (const body of requests.map(print('client'))) posts.push({ path: '/v1/beacons', body });
  }
  for (let at = 1; at < posts.length; at++) if (Math.random() < DUPLICATES) posts[at] = posts[at - 1]!;
  return posts.slice(0, count);
}
