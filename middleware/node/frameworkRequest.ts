import type { IncomingMessage } from 'node:http';
import type { Description } from './describedFields.ts';
import { type TimingHandler, type TimingOptions, timing } from './timing.ts';

/** The options of `timing`, where `describe` gets the framework's own request, with its parsed body and its route. */
export interface FrameworkTimingOptions<Request> extends Omit<TimingOptions, 'describe'> {
  /** Says what the request was; called once when the response is over, so that a parsed body is there. */
  describe?(request: Request): Description;
}

export interface FrameworkTiming<Request> {
  readonly timed: TimingHandler;
  /** Says which request of the framework stands for one of Node's; before `timed` is called with it. */
  remember(req: IncomingMessage, request: Request): void;
}

/**
 * What a framework's adapter stands on: the one middleware, which sees only Node's requests.
 *
 * @throws TypeError that names a wrong option
 */
export function frameworkTiming<Request extends object>(
  options: FrameworkTimingOptions<Request>,
): FrameworkTiming<Request> {
  const { describe, ...others } = options;
  if (!describe) return { timed: timing(others), remember: () => undefined };
  const requests = new WeakMap<IncomingMessage, Request>();
  const timed = timing({
    ...others,
    describe(req) {
      const request = requests.get(req);
      return request ? describe(request) : {};
    },
  });
  return { timed, remember: (req, request) => void requests.set(req, request) };
}
