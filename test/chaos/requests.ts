import { BEACON_VERSION, type Beacon } from '../../contract/beacon.ts';
import type { GatewayLogLine } from '../../contract/gatewayLog.ts';
import type { ServerRecord } from '../../contract/serverRecord.ts';

/** The reports of one request, each of which is acknowledged for itself. */
export const HALVES = ['server', 'interim', 'final', 'gateway'] as const;
export type HalfName = (typeof HALVES)[number];

/** Bit of a half in the ledger. */
export const BIT: Readonly<Record<HalfName, number>> = { server: 1, interim: 2, final: 4, gateway: 8 };

/** What the row has to hold once all of its halves are acknowledged. Columns of `requests`. */
export interface ExpectedRow {
  readonly server: Readonly<Record<string, number | string>>;
  readonly final: Readonly<Record<string, number | string>>;
  readonly gateway: Readonly<Record<string, number | string>>;
  /** Known when server, final and gateway are. */
  readonly joined: Readonly<Record<string, number | string>>;
}

const MODELS = ['llama', 'mistral', 'qwen'];
const STATUSES = ['complete', 'aborted', 'truncated', 'error'] as const;
const DEVICES = ['desktop', 'mobile', 'tablet'];
/** Above 2^53, as on a machine that has been up for 104 days. */
const FIRST_STAMP = 9_007_199_254_740_993n;

/**
 * All that is said of request `number`, worked out from seed and number alone: what was sent years of events ago can be told again
 * at the end, and nothing but a bit per half has to be remembered.
 */
export class Requests {
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
  }

  traceId(number: number): string {
    const hex = (value: number) => value.toString(16).padStart(8, '0');
    return `${hex(this.#seed)}${hex(this.#draw(number, 0))}${hex(this.#draw(number, 1))}${hex(number)}`;
  }

  /** The number of a key of this run; undefined for any other. */
  numberOf(traceId: string): number | undefined {
    const number = Number.parseInt(traceId.replaceAll('-', '').slice(24), 16);
    return this.traceId(number) === traceId.replaceAll('-', '') ? number : undefined;
  }

  event(number: number, half: HalfName): ServerRecord | Beacon | GatewayLogLine {
    if (half === 'server') return this.#server(number);
    if (half === 'gateway') return this.#gateway(number);
    return this.#beacon(number, half);
  }

  expected(number: number): ExpectedRow {
    const stages = this.#stagesNs(number);
    const [receive, preprocess, kvLoad, firstToken, serialize, send] = stages as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const serverTtftNs = preprocess + kvLoad + firstToken + serialize + send;
    const beacon = this.#beacon(number, 'final');
    const gatewayNs = this.#connectMs(number) * 1e6;
    return {
      server: {
        server_source: 'direct',
        server_ttft_ns: serverTtftNs,
        receive_ns: receive,
        preprocess_ns: preprocess,
        kv_load_ns: kvLoad,
        first_token_ns: firstToken,
        serialize_ns: serialize,
        send_ns: send,
        model: this.#model(number),
        cached_tokens: this.#between(number, 9, 0, 4_000),
        backend: 'gpu-1',
      },
      final: {
        status: beacon.status,
        seq: 2,
        ttft_ms: beacon.ttft_ms!,
        end_ms: beacon.end_ms!,
        output_tokens: beacon.output_tokens!,
        device: beacon.device!,
        call_id: beacon.call_id!,
        arrivals: beacon.arrivals_ms!.length,
      },
      gateway: {
        gateway_ns: gatewayNs,
        gateway_request_ms: this.#between(number, 21, 1_000, 60_000),
        gateway_status: 200,
      },
      joined: { network_ns: Math.round(beacon.ttft_ms! * 1e6) - serverTtftNs - receive - gatewayNs },
    };
  }

  #server(number: number): ServerRecord {
    let at = FIRST_STAMP + BigInt(this.#between(number, 8, 0, 1_000_000_000));
    const stamps = [at, ...this.#stagesNs(number).map((ns) => (at += BigInt(ns)))];
    return {
      trace_id: this.traceId(number),
      timing_trace: stamps.join(),
      model: this.#model(number),
      route: '/api/chat',
      backend: 'gpu-1',
      cached_tokens: this.#between(number, 9, 0, 4_000),
      sub_stages: { db: this.#between(number, 10, 1, 5_000_000) },
    };
  }

  /** The interim one tells the beginning of what the final one tells, under a lower `seq`. */
  #beacon(number: number, half: 'interim' | 'final'): Beacon {
    const stages = this.#stagesNs(number).reduce((sum, ns) => sum + ns, 0);
    // Whole tenths of a millisecond, in JSON and in the column alike; more than all that server and gateway account for.
    const ttftTenths = Math.ceil(stages / 1e5) + 500 + this.#between(number, 11, 0, 5_000);
    const events = this.#between(number, 12, 2, 9);
    const step = this.#between(number, 13, 50, 900);
    const arrivals = Array.from(
      { length: half === 'final' ? events : 1 },
      (_, event) => (ttftTenths + event * step) / 10,
    );
    return {
      v: BEACON_VERSION,
      trace_id: this.traceId(number),
      seq: half === 'final' ? 2 : 1,
      status: half === 'final' ? STATUSES[this.#between(number, 14, 0, STATUSES.length - 1)]! : 'streaming',
      since_start_ms: arrivals.at(-1)! + 20,
      ttft_ms: arrivals[0]!,
      arrivals_ms: arrivals,
      device: DEVICES[this.#between(number, 15, 0, DEVICES.length - 1)]!,
      call_id: `call-${number}`,
      ...(half === 'final' ? { end_ms: arrivals.at(-1)! + 10, output_tokens: events + (number % 50) } : {}),
    };
  }

  #gateway(number: number): GatewayLogLine {
    const seconds = (ms: number) => (ms / 1_000).toFixed(3);
    const requestMs = this.#between(number, 21, 1_000, 60_000);
    return {
      trace_id: this.traceId(number),
      request_time: seconds(requestMs),
      upstream_connect_time: seconds(this.#connectMs(number)),
      upstream_header_time: '0.100',
      upstream_response_time: seconds(requestMs),
      status: '200',
      upstream_status: '200',
    };
  }

  #stagesNs(number: number): number[] {
    return Array.from({ length: 6 }, (_, stage) => this.#between(number, 2 + stage, 1, 60_000_000));
  }

  #model(number: number): string {
    return MODELS[this.#between(number, 16, 0, MODELS.length - 1)]!;
  }

  #connectMs(number: number): number {
    return this.#between(number, 20, 0, 15);
  }

  #between(number: number, field: number, least: number, most: number): number {
    return least + (this.#draw(number, field) % (most - least + 1));
  }

  /** 32 bits that look drawn (the finisher of MurmurHash3). */
  #draw(number: number, field: number): number {
    let mixed =
      Math.imul(this.#seed ^ 0x9e3779b9, 0x85ebca6b) ^
      Math.imul(number + 1, 0xc2b2ae35) ^
      Math.imul(field + 1, 0x27d4eb2f);
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return (mixed ^ (mixed >>> 16)) >>> 0;
  }
}
