import { once } from 'node:events';
import net from 'node:net';

/** What becomes of a connection through the proxy. */
export type Passage =
  | 'open'
  /** New connections are refused, and those that stand are reset. */
  | 'refuse'
  /** Nothing moves any more, in either direction, and nobody is told. */
  | 'hang';

/** A TCP proxy in front of PostgreSQL, in which a test is the network. */
export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  set(passage: Passage): Promise<void>;
  /** Resets what stands now; new connections pass. */
  cut(): void;
  /**
   * The next COMMIT of a writing transaction reaches PostgreSQL, and its answer does not come back: all connections are reset.
   * Resolves when that has happened.
   */
  loseNextCommit(): Promise<void>;
  close(): Promise<void>;
}

/** The prepared statement of a flush, run; and the query of a settlement. */
const COMMITS = [Buffer.from('\0commit\0'), Buffer.from('Q\0\0\0\x0bCOMMIT\0')];
/** What makes rows, in a flush; it may be sent well before its COMMIT. Settling writes too. */
const WRITES = [Buffer.from('\0insert\0'), Buffer.from('\0insertNew\0'), Buffer.from('SET settled = true')];

export async function openProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const pairs = new Set<{ near: net.Socket; far: net.Socket; writes: boolean; deaf: boolean }>();
  let passage: Passage = 'open';
  let commitLost: (() => void) | undefined;

  const cut = () => {
    for (const { near, far } of pairs) {
      near.resetAndDestroy();
      // Closed in order, so that PostgreSQL still reads what was sent.
      far.end();
    }
    pairs.clear();
  };
  const accept = (near: net.Socket) => {
    const far = net.connect(Number(target.port), target.hostname);
    const pair = { near, far, writes: false, deaf: false };
    pairs.add(pair);
    near.on('data', (chunk: Buffer) => {
      if (passage === 'hang') return;
      far.write(chunk);
      if (WRITES.some((statement) => chunk.includes(statement))) pair.writes = true;
      if (!COMMITS.some((statement) => chunk.includes(statement))) return;
      if (commitLost && pair.writes) {
        pair.deaf = true;
        const lost = commitLost;
        commitLost = undefined;
        // Whatever is answered next, COMMIT has arrived by then, and what has arrived is carried out.
        far.once('data', () => {
          cut();
          lost();
        });
      }
      pair.writes = false;
    });
    far.on('data', (chunk: Buffer) => {
      if (passage !== 'hang' && !pair.deaf) near.write(chunk);
    });
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => {});
      one.on('close', () => {
        // One that was cut is left to PostgreSQL to close.
        if (pairs.delete(pair) && passage !== 'hang') other.destroy();
      });
    }
  };

  let server: net.Server | undefined;
  let port = 0;
  const listen = async () => {
    server = net.createServer(accept).listen(port, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as net.AddressInfo).port;
  };
  const refuse = async () => {
    const closing = server;
    server = undefined;
    const closed = new Promise((resolve) => (closing ? closing.close(resolve) : resolve(undefined)));
    cut();
    await closed;
  };
  await listen();
  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    async set(next) {
      passage = next;
      if (next === 'refuse') return refuse();
      if (next === 'open') cut();
      if (!server) await listen();
    },
    cut,
    loseNextCommit() {
      return new Promise((resolve) => {
        commitLost = resolve;
      });
    },
    async close() {
      passage = 'open';
      await refuse();
    },
  };
}
