import type { Command } from '../commandLine/command.ts';

const OPTIONS = {
  'with-prometheus': {
    help: `also starts the prometheus and the alertmanager that are on the PATH, on loopback,
with the shipped rules; says how to get what is not there`,
  },
  'with-grafana': { help: 'the same with grafana and the shipped dashboards' },
  preview: { help: 'also shows the dashboards itself, on loopback, for whoever has no Grafana; the log says where' },
} as const;

/** What `npm start` takes; everything else the environment decides (config.ts). */
export const START_COMMAND: Command<typeof OPTIONS> = {
  name: 'npm start',
  summary: `Starts the ingest service. Without DATABASE_URL it starts a PostgreSQL of its own, with its data in DATA_DIR. The log line
"ready" has the addresses.`,
  options: OPTIONS,
  environment: 'docs/configuration.md lists every variable.',
  exitCodes: {
    0: 'stopped by SIGTERM or SIGINT',
    1: 'it did not start, or what it cannot do without has ended',
    2: 'wrong arguments or environment',
  },
};
