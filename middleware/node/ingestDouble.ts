import http from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ServerRecord } from '../../contract/serverRecord.ts';

/** One post as the ingest got it. */
export interface RecordedPost {
  readonly path: string | undefined;
  readonly headers: http.IncomingHttpHeaders;
  readonly bytes: number;
  readonly records: ServerRecord[];
}

export interface Answer {
  readonly status: number;
  readonly headers?: http.OutgoingHttpHeaders;
  readonly body?: string;
}

/** A stand-in for the ingest: a real HTTP server that records what it is posted. For tests. */
export interface IngestDouble {
  readonly url: string;
  readonly posts: RecordedPost[];
  /** The records of all posts that were answered 202. */
  readonly records: ServerRecord[];
  /** Decides the answers; null leaves the post without one. */
  answer: (post: RecordedPost) => Answer | null;
  /** Resolves when `met` holds, at once or after one of the next posts. */
  until(met: () => boolean): Promise<void>;
  close(): Promise<void>;
}

export async function startIngestDouble(): Promise<IngestDouble> {
  const waiting = new Set<() => void>();
  const server = http.createServer(async (req, res) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk);
    } catch {
      // The sender gave up in the middle of its post.
      return;
    }
    const body = Buffer.concat(chunks);
    const lines = body.toString().split('\n').filter(Boolean);
    const post = {
      path: req.url,
      headers: req.headers,
      bytes: body.length,
      records: lines.map((line) => JSON.parse(line)),
    };
    double.posts.push(post);
    const answer = double.answer(post);
    if (answer) {
      if (answer.status === 202) double.records.push(...post.records);
      res.writeHead(answer.status, answer.headers);
      res.end(answer.body ?? JSON.stringify({ accepted: post.records.length, rejected: [] }));
    }
    for (const check of waiting) check();
  });
  const double: IngestDouble = {
    url: '',
    posts: [],
    records: [],
    answer: () => ({ status: 202 }),
    until: (met) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!met()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(double, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}
