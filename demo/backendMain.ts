import { once } from 'node:events';
import { createServer } from 'node:http';
import pg from 'pg';
import { runCommand } from '../commandLine/command.ts';
import { openLogFile } from '../ingest/logFile.ts';
import { commentedPg } from '../middleware/node/index.ts';
import { createBackend } from './backend.ts';
import { requiredVariable, stopped } from './containerPart.ts';

/** The simulated backend in a container of its own (compose.yaml, profile demo). */
await runCommand(
  {
    name: 'node --import tsx demo/backendMain.ts',
    summary: 'Serves simulated chat streams that measure themselves, until it is stopped.',
    options: {},
    environment:
      'INGEST_URL, INGEST_TOKEN; HOST (127.0.0.1), PORT (3001); DATABASE_URL: where its slow queries are asked; LOG_FILE: gets its log as well.',
    exitCodes: { 0: 'stopped', 1: 'it could not listen', 2: 'a variable is missing' },
  },
  async () => {
    const toFile = process.env['LOG_FILE'] ? openLogFile(process.env['LOG_FILE']) : null;
    const databaseUrl = process.env['DATABASE_URL'];
    const pool = databaseUrl ? new pg.Pool({ connectionString: databaseUrl, max: 10 }) : null;
    pool?.on('error', () => {});
    const backend = createBackend({
      seed: Number(process.env['SEED'] ?? 7),
      ingestUrl: requiredVariable('INGEST_URL'),
      token: requiredVariable('INGEST_TOKEN'),
      log: (line) => {
        process.stdout.write(line);
        toFile?.(line);
      },
      ...(pool === null ? {} : { database: commentedPg(pool) }),
    });
    backend.app.get('/healthz', (_request, response) => void response.json({ alive: true }));
    const server = createServer(backend.app).listen(
      Number(process.env['PORT'] ?? 3001),
      process.env['HOST'] ?? '127.0.0.1',
    );
    await once(server, 'listening');
    await stopped();
    server.close();
    server.closeAllConnections();
    await backend.timing.close();
    await pool?.end();
    return 0;
  },
);
