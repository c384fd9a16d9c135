import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findProgram } from '../../setup/findProgram.ts';
import type { Program } from '../../setup/programs.ts';

/** Not among what setup installs: only `npm run test:stack` needs it, and the package of Debian 12 is too old. */
const GO: Program = {
  name: 'go',
  // A subcommand that came with 1.23.
  probe: ['telemetry'],
  debian: 'golang-go',
  homebrew: 'go',
  purpose: 'the collector, Jaeger, VictoriaLogs, Prometheus and Alertmanager',
};

/** There is no go command that can build them. */
export class MissingGoError extends Error {
  override readonly name = 'MissingGoError';
  constructor() {
    super(`missing: go 1.23 or newer, for ${GO.purpose}. It fetches the toolchain that the modules ask for by itself.
On Debian 13: apt-get install ${GO.debian}. Debian 12 has one that is too old: https://go.dev/dl/`);
  }
}

/** @throws MissingGoError */
export function findGo(): string {
  const go = findProgram(GO);
  if (go === undefined) throw new MissingGoError();
  return go;
}

/**
 * Runs a go command to its end, with all cores but at the lowest priority.
 *
 * @returns what it wrote to standard output
 * @throws Error with what it said
 */
export async function runGo(go: string, args: readonly string[], folder: string): Promise<string> {
  const child = spawn('nice', ['-n', '10', go, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      // Nothing here needs a C compiler, and not everybody has one.
      CGO_ENABLED: '0',
      GOFLAGS: '-buildvcs=false',
      GOWORK: 'off',
      // Debian's own never fetches a newer one by itself.
      GOTOOLCHAIN: process.env['GOTOOLCHAIN'] ?? 'auto',
    },
  });
  let output = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`go ${args.join(' ')} in ${folder} ended with ${code}:\n${said.slice(-4_000)}`);
  return output;
}
