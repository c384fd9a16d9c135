/** Lines are shipped as a log collector does it: a few at a time, behind the requests. */
const SHIP_EVERY_MS = 200;
const MAX_LINES_A_POST = 500;

/** The gateway's access log, shipped to the ingest. */
export interface GatewayLog {
  /** One line of JSON, in the form that nginx writes. */
  write(line: string): void;
  /** Ships what is left. */
  close(): Promise<void>;
}

/** A line that could not be shipped is lost, as a log line is; the request's other halves are not. */
export function createGatewayLog(ingestUrl: string, token: string): GatewayLog {
  let lines: string[] = [];
  let shipping: Promise<void> = Promise.resolve();

  const ship = (): Promise<void> => {
    shipping = shipping.then(async () => {
      while (lines.length > 0) {
        const body = lines.slice(0, MAX_LINES_A_POST).join('\n');
        lines = lines.slice(MAX_LINES_A_POST);
        await fetch(`${ingestUrl}/v1/gateway-logs`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' },
          body,
        }).then(
          (response) => response.body?.cancel(),
          () => undefined,
        );
      }
    });
    return shipping;
  };
  const timer = setInterval(ship, SHIP_EVERY_MS);
  timer.unref();
  return {
    write: (line) => void lines.push(line),
    close: () => {
      clearInterval(timer);
      return ship();
    },
  };
}
