import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { DASHBOARDS, DATA_SOURCES } from '../../dashboards/config.ts';

export interface StandIn {
  readonly url: string;
  stop(): Promise<void>;
}

async function serve(listener: http.RequestListener): Promise<StandIn> {
  const server = http.createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface GrafanaState {
  readonly token: string;
  readonly sources?: readonly string[];
  /** Uid of a data source whose own check fails. */
  readonly broken?: string;
  readonly dashboards?: readonly string[];
}

/** What of Grafana's HTTP API the doctor reads, in Grafana's own shapes; Grafana itself cannot be installed by apt or npm. */
export function startGrafana({
  token,
  sources = ['prometheus', 'pg', 'tempo', 'loki'],
  broken,
  dashboards,
}: GrafanaState): Promise<StandIn> {
  return serve((request, response) => {
    const json = (status: number, body: unknown) =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (request.headers.authorization !== `Bearer ${token}`) return json(401, { message: 'Unauthorized' });
    const { pathname } = new URL(request.url!, 'http://here');
    if (pathname === '/api/datasources') {
      const known = Object.values(DATA_SOURCES).filter(({ uid }) => sources.includes(uid));
      return json(
        200,
        known.map(({ uid, name, type }, index) => ({ id: index + 1, uid, name, type })),
      );
    }
    const health = /^\/api\/datasources\/uid\/([\w-]+)\/health$/.exec(pathname);
    if (health !== null) {
      if (health[1] === broken) return json(400, { status: 'ERROR', message: 'connection refused' });
      return json(200, { status: 'OK', message: 'Database Connection OK' });
    }
    if (pathname === '/api/search') {
      const uids = dashboards ?? DASHBOARDS.map(({ uid }) => uid);
      return json(
        200,
        uids.map((uid) => ({ uid, title: uid, type: 'dash-db' })),
      );
    }
    return json(404, { message: 'Not found' });
  });
}

/** Passes everything on to a service, but shows another hour. */
export function startWrongClock(to: string, offMs: number): Promise<StandIn> {
  return serve((request, response) => {
    const onward = http.request(
      `${to}${request.url}`,
      { method: request.method, headers: request.headers },
      (answer) => {
        const date = new Date(Date.now() + offMs).toUTCString();
        response.writeHead(answer.statusCode!, { ...answer.headers, date });
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    request.pipe(onward);
  });
}
