import { once } from 'node:events';

/** What a part in a container cannot do without; ends the process, with its name, when it is missing. */
export function requiredVariable(name: string): string {
  const value = process.env[name]?.trim();
  if (!value) {
    process.stderr.write(`${name} must be set\n`);
    process.exit(2);
  }
  return value;
}

/** Resolves when the container is stopped. */
export async function stopped(): Promise<void> {
  await Promise.race([once(process, 'SIGTERM'), once(process, 'SIGINT')]);
}
