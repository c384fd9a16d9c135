/**
 * A service reduced to its embedded server, for tests that kill one: prints the server's facts as a line of JSON, or an error's;
 * `exit` on standard input leaves without stopping, SIGTERM stops. Ctrl-C it survives, as a service that drains would.
 */
import { startEmbedded } from '../../ingest/store/embedded.ts';

const print = (facts: object) => process.stdout.write(`${JSON.stringify(facts)}\n`);

try {
  const { url, pid, port, stop } = await startEmbedded({
    dataDir: process.argv[2]!,
    log: (message) => print({ log: message }),
  });
  process.on('SIGINT', () => print({ interrupted: true }));
  process.on('SIGTERM', () => void stop().then(() => process.exit()));
  process.stdin.on('data', () => process.exit());
  print({ url, pid, port });
} catch (error) {
  const { name, message } = error as Error;
  print({ name, message });
}
