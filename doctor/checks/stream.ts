import { parseTimingTrace } from '../../contract/timingTrace.ts';
import { ask } from '../ask.ts';
import { type Finding, fault, good, skipped } from '../finding.ts';
import type { StreamSeen } from '../readStream.ts';
import type { Target } from '../target.ts';

const HEADER = 'X-Timing-Trace';
/** With fewer, how they arrive tells nothing: as the flag `coalesced`. */
const LEAST_EVENTS = 4;
/** The middleware posts its record in the background, soon after the answer has ended. */
const RECORD_WITHIN_MS = 5_000;
const ASK_EVERY_MS = 250;

/** The stamps of the server arrive with its answer. */
export async function checkHeader({ url, token }: Target, stream: StreamSeen): Promise<Finding> {
  if (stream.status >= 400) {
    return fault(
      `The application answers ${stream.status}, not a stream.`,
      'Give it the request that a page makes: --app-body with the JSON, --app-header with its authorisation.',
    );
  }
  const header = stream.headers.get(HEADER);
  if (header !== null) {
    const trace = parseTimingTrace(header);
    if (trace.ok) return good(`${HEADER} arrives, with ${trace.value.stampCount} of 7 stamps.`);
    return fault(
      `${HEADER} arrives and cannot be read: ${trace.rejection.message}`,
      'Something between adds to it or changes it: it must arrive as the middleware sent it, once.',
    );
  }
  // Who is to blame is told by whether the middleware's own record has come.
  const recorded = await recordCame(url, token, stream.traceId);
  return recorded
    ? fault(
        `${HEADER} does not arrive, though the middleware reported this request: a proxy between takes it away.`,
        'Let the proxy pass the header (nginx: no proxy_hide_header for it), and expose it to pages of other origins.',
      )
    : fault(
        `${HEADER} does not arrive, and no record of this request came to the service either.`,
        'Put the middleware before everything else on that route, with ingestUrl and token: docs/install.md.',
      );
}

async function recordCame(url: string, token: string | null, traceId: string): Promise<boolean> {
  const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` };
  for (const until = Date.now() + RECORD_WITHIN_MS; Date.now() < until; ) {
    const answer = await ask(`${url}/v1/requests/${traceId}`, { headers });
    if (answer.kind === 'answered' && answer.status === 200) return true;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return false;
}

/** The stream comes as it is made, and not collected. */
export function checkBuffering({
  status,
  isEventStream,
  events,
  sharedReads,
  firstMs,
  endMs,
  headers,
}: StreamSeen): Finding {
  if (status >= 400) return skipped('Without a stream nobody can tell how it arrives.');
  if (!isEventStream)
    return skipped(
      `The answer is ${headers.get('content-type') ?? 'of no type'}, no event stream: how it arrives tells nothing.`,
    );
  if (events < LEAST_EVENTS)
    return skipped(
      `The answer has only ${events} events: too few to tell how they arrive.`,
      'Ask for a longer one: --app-body',
    );
  const times = `first after ${firstMs.toFixed(0)} ms, last after ${endMs.toFixed(0)} ms`;
  if (sharedReads <= events / 2) return good(`${events} events arrive one by one (${times}).`);
  const compressed = headers.get('content-encoding');
  return fault(
    `${sharedReads} of ${events} events arrive together with an earlier one (${times}): something between collects the stream.`,
    compressed === null
      ? 'Switch buffering off on that way (nginx: proxy_buffering off, or include provisioning/nginx/firsttoken-stream.conf): docs/nginx.md, docs/faq.md.'
      : `It is compressed (${compressed}) on the way: do not compress event streams (nginx: gzip off).`,
  );
}
