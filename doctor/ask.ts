const TIMEOUT_MS = 5_000;

export interface Answered {
  readonly kind: 'answered';
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The body as JSON; undefined where it is none. */
  readonly json: unknown;
  /** By this machine's clock, milliseconds: when the request left and when its answer was there. */
  readonly askedAtMs: number;
  readonly answeredAtMs: number;
}
export interface Unreachable {
  readonly kind: 'unreachable';
  readonly why: string;
}

/** One HTTP request, without redirects: what stands in between is to be seen. Never throws. */
export async function ask(url: string, init: RequestInit = {}): Promise<Answered | Unreachable> {
  const askedAtMs = Date.now();
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS), ...init });
    const text = await response.text();
    const { status, headers } = response;
    return { kind: 'answered', status, headers, text, json: parsed(text), askedAtMs, answeredAtMs: Date.now() };
  } catch (error) {
    return { kind: 'unreachable', why: whyUnreachable(error) };
  }
}

/** What of this machine's view of a connection helps to mend it. */
export function whyUnreachable(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const codes = cause instanceof AggregateError ? cause.errors : [cause];
  const code = codes.map((each) => (each as { code?: unknown } | null)?.code).find((each) => typeof each === 'string');
  if (code === 'ECONNREFUSED') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'there is no host of that name';
  if (code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'the connection broke off';
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return 'there is no way to that host';
  if (error instanceof Error && error.name === 'TimeoutError') return `no answer within ${TIMEOUT_MS / 1_000} s`;
  return cause instanceof Error ? cause.message : String(cause);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
