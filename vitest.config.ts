import { defineConfig } from 'vitest/config';

/**
 * Five kinds of tests, by what they need: `unit` nothing; `postgres` the embedded PostgreSQL that npm installed; `system` Debian's prometheus,
 * nginx and chromium; `fastapi` the last two and the Python packages that .ci/python installs; `stack` nginx, and Go for what it builds.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          sequence: { groupOrder: 0 },
          include: [
            '{bench,commandLine,contract,ingest,middleware,browser,dashboards,demo,doctor,openapi,preview,setup}/**/*.test.ts',
            'test/{chaos,commandLine,docs,fuzz}/**/*.test.ts',
          ],
          exclude: ['**/node_modules/**', 'test/docs/running*.test.ts', 'test/fuzz/endpoints.test.ts'],
        },
      },
      {
        test: {
          name: 'postgres',
          sequence: { groupOrder: 1 },
          include: ['test/postgres/**/*.test.ts', 'test/docs/running*.test.ts', 'test/fuzz/endpoints.test.ts'],
          globalSetup: ['test/postgres/globalSetup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'system',
          sequence: { groupOrder: 2 },
          include: ['test/{prometheus,browser,stack,doctor,preview}/**/*.test.ts'],
          globalSetup: ['test/postgres/globalSetup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'fastapi',
          sequence: { groupOrder: 3 },
          include: ['test/fastapi/**/*.test.ts'],
          globalSetup: ['test/postgres/globalSetup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
      {
        test: {
          name: 'stack',
          sequence: { groupOrder: 4 },
          include: ['test/wholeStack/**/*.test.ts'],
          globalSetup: ['test/wholeStack/globalSetup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
