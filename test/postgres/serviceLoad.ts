import { TOKEN } from './service.ts';
import { beacon, serverRecord, traceId } from './serviceEvents.ts';
import { type Answer, send } from './serviceHttp.ts';

export interface Load {
  /** Ids of the events that were acknowledged so far. */
  readonly acknowledged: readonly string[];
  /** Statuses other than 202; 0 for a connection that broke. */
  readonly refused: readonly number[];
  stop(): Promise<void>;
}

/**
 * Posts on so many connections at once without pause. What is refused is sent again until it is taken, or the load is stopped.
 *
 * @param perPost events of one post
 */
export function startLoad(publicUrl: string, connections: number, perPost = 1): Load {
  const acknowledged: string[] = [];
  const refused: number[] = [];
  let goOn = true;
  const post = (keys: readonly string[], number: number): Promise<Answer> =>
    number % 2
      ? send(`${publicUrl}/v1/beacons`, {
          headers: { 'content-type': 'text/plain' },
          body: JSON.stringify(keys.map((trace_id) => beacon({ trace_id }))),
        })
      : send(`${publicUrl}/v1/server-timings`, {
          headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
          body: JSON.stringify(keys.map((trace_id) => serverRecord({ trace_id }))),
        });
  const run = async (number: number) => {
    while (goOn) {
      const keys = Array.from({ length: perPost }, traceId);
      for (let status = 0; goOn && status !== 202; ) {
        status = await post(keys, number).then(
          (answer) => answer.status,
          () => 0,
        );
        if (status === 202) acknowledged.push(...keys);
        else refused.push(status);
      }
    }
  };
  const runs = Array.from({ length: connections }, (_, number) => run(number));
  return {
    acknowledged,
    refused,
    async stop() {
      goOn = false;
      await Promise.all(runs);
    },
  };
}
