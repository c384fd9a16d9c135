/** Streams that stay open, with or without the middleware: `streamServer.ts plain|timed`. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { timing } from '../middleware/node/index.ts';

const listener: http.RequestListener = (_request, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write('data: {"choices":[{"delta":{"content":"One"}}]}\n\n');
};
const timed = timing({ ingestUrl: 'http://127.0.0.1:9', token: 'bench' });
const server = http.createServer(
  process.argv[2] === 'timed'
    ? (request, response) => timed(request, response, () => listener(request, response))
    : listener,
);
server.listen(0, '127.0.0.1', () => process.send!({ port: (server.address() as AddressInfo).port }));
process.on('message', () => process.send!({}));
process.on('disconnect', () => process.exit());
