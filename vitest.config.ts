import { defineConfig } from 'vitest/config';

/**
 * Three kinds of tests, by what they need:
 * `unit` nothing; `postgres` the embedded PostgreSQL that npm installed; `system` Debian's prometheus, nginx and chromium.
 */
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{contract,ingest,middleware,browser,dashboards,demo}/**/*.test.ts', 'test/docs/**/*.test.ts'],
          exclude: ['**/node_modules/**', 'test/docs/runningExamples.test.ts'],
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['test/postgres/**/*.test.ts', 'test/docs/runningExamples.test.ts'],
          globalSetup: ['test/postgres/globalSetup.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{prometheus,browser,stack}/**/*.test.ts'],
          globalSetup: ['test/postgres/globalSetup.ts'],
          testTimeout: 180_000,
          hookTimeout: 180_000,
          maxWorkers: 1,
        },
      },
    ],
  },
});
