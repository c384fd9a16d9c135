/** One variant of the app in a process of its own: `server.ts <variant> <ingestUrl>`; its parent asks for its processor time. */
import { AsyncLocalStorage } from 'node:async_hooks';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { timing } from '../../middleware/node/index.ts';
import { answer } from './app.ts';
import type { Variant } from './variants.ts';

const [variant, ingestUrl] = process.argv.slice(2) as [Variant, string];

function listener(): http.RequestListener {
  if (variant === 'plain') return answer;
  if (variant === 'context') {
    const storage = new AsyncLocalStorage<object>();
    return (req, res) => void storage.run({}, () => answer(req, res));
  }
  const timed = timing({ ingestUrl, token: 'bench', context: variant === 'timed' });
  return (req, res) => timed(req, res, () => answer(req, res));
}

const server = http.createServer(listener());
// The client's connections wait while the others have their turns.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!({ cpuUs: user + system });
});
process.on('disconnect', () => process.exit());
