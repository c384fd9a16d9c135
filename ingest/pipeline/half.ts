import type { Connection, Device, StreamStatus, TokenSource } from '../../contract/beacon.ts';
import type { ServerStagesNs } from '../../contract/stages.ts';

/** The key of a request, as all of its halves spell it after reading. */
export interface TraceKey {
  /** 32 lower-case hex digits. */
  readonly key: string;
  /** The given spelling where it differs from the key. */
  readonly ref: string | null;
}

interface HalfBase extends TraceKey {
  /** Wall clock of this service when the post arrived, epoch milliseconds. */
  readonly receivedAtMs: number;
  /** Credible start of the request, epoch milliseconds; null where the half does not know it. */
  readonly startedAtMs: number | null;
  /** The half named a start that was not credible. */
  readonly startedAtReplaced: boolean;
}

/** What one server knew of one request. */
export interface ServerHalf extends HalfBase {
  readonly kind: 'server';
  readonly source: 'direct' | 'echo';
  readonly stampCount: number;
  readonly stagesNs: ServerStagesNs;
  readonly ttftNs: number | null;
  readonly ttftBasis: string | null;
  readonly stageOverflow: boolean;
  readonly subStagesNs: Readonly<Record<string, number>> | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly variant: string | null;
  readonly tier: string | null;
  readonly backend: string | null;
  readonly promptTokens: number | null;
  readonly cachedTokens: number | null;
  readonly outputTokens: number | null;
  readonly quantization: string | null;
  readonly decoding: string | null;
  readonly temperature: number | null;
  readonly topK: number | null;
  readonly batchSize: number | null;
  readonly status: number | null;
  /** 16 hex digits. */
  readonly parentSpanId: string | null;
}

/** What one client saw of one request. Milliseconds from its `fetch` call. */
export interface ClientHalf extends HalfBase {
  readonly kind: 'client';
  readonly seq: number;
  readonly status: StreamStatus;
  readonly ttftMs: number | null;
  readonly ttftVisibleMs: number | null;
  readonly endMs: number | null;
  readonly arrivalsMs: readonly number[] | null;
  readonly chunkTokens: readonly number[] | null;
  readonly measures: StreamMeasures;
  readonly outputTokens: number | null;
  readonly outputTokensSource: TokenSource | null;
  /** Flag bits that this beacon states, and those of them that are true. */
  readonly flagMask: number;
  readonly flagBits: number;
  readonly renderFirstMs: number | null;
  readonly renderP50Ms: number | null;
  readonly renderMaxMs: number | null;
  readonly connectionDnsMs: number | null;
  readonly connectionTcpMs: number | null;
  readonly connectionTlsMs: number | null;
  readonly connectionWaitMs: number | null;
  readonly model: string | null;
  readonly route: string | null;
  readonly variant: string | null;
  readonly tier: string | null;
  readonly promptTokens: number | null;
  readonly promptChars: number | null;
  readonly region: string | null;
  /** The region comes from the operator's header, not from the client. */
  readonly regionTrusted: boolean;
  readonly carrier: string | null;
  readonly device: Device | null;
  readonly connection: Connection | null;
  readonly callId: string | null;
  /** The server half that the client read from the response's headers. */
  readonly echo: ServerHalf | null;
}

/** What the gateway's access log said of one request. */
export interface GatewayHalf extends HalfBase {
  readonly kind: 'gateway';
  readonly gatewayNs: number | null;
  readonly requestMs: number | null;
  /** HTTP status. */
  readonly status: number;
}

export type Half = ServerHalf | ClientHalf | GatewayHalf;

/** What the arrivals of one stream come to; null where there are too few. */
export interface StreamMeasures {
  readonly tpotMs: number | null;
  readonly gapMaxMs: number | null;
  readonly gapMeanMs: number | null;
  /** Population standard deviation of all gaps; null under two gaps. */
  readonly gapStddevMs: number | null;
  /** TPOT of the first 20 tokens. */
  readonly first20MeanMs: number | null;
  /** Standard deviation of the worst ten neighbouring gaps. */
  readonly window10StddevMaxMs: number | null;
  /** Arrival of output token 50. */
  readonly firstScreenMs: number | null;
  /** TPOT was asked for, and the tokens of the first event are unknown. */
  readonly firstTokensUnknown: boolean;
}
