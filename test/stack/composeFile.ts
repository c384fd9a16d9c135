import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

export interface Service {
  image?: string;
  build?: { context: string; target: string; args: Record<string, string> };
  user?: string;
  mem_limit?: string;
  entrypoint?: string[];
  profiles?: string[];
  command?: string[];
  environment?: Record<string, string>;
  ports?: string[];
  volumes?: string[];
  healthcheck?: { test: string[] };
  read_only?: boolean;
  depends_on?: Record<string, { condition: string }>;
}

export interface ComposeFile {
  'x-versions': Record<string, string>;
  services: Record<string, Service>;
  volumes: Record<string, { driver_opts: Record<string, string> } | null>;
}

export function readText(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

export function readYaml<T>(path: string): T {
  return parse(readText(path), { merge: true }) as T;
}

export const compose = readYaml<ComposeFile>('compose.yaml');

/** Names that a value takes from .env, as in `${NAME:?why}`. */
export function environmentNames(text: string): string[] {
  return [...text.matchAll(/\$\{([A-Z_]+)[^}]*\}/g)].map((match) => String(match[1]));
}

/** A service's environment, every value from .env replaced by a harmless one. */
export function environmentOf(service: string, dotEnv: Readonly<Record<string, string>>): Record<string, string> {
  const given = Object.entries(compose.services[service]?.environment ?? {});
  return Object.fromEntries(
    given.map(([name, value]) => [name, value.replace(/\$\{([A-Z_]+)[^}]*\}/g, (_, key: string) => dotEnv[key] ?? '')]),
  );
}

/** Host paths that a service mounts, with where they appear inside it. */
export function mountsOf(service: string): { source: string; target: string }[] {
  return (compose.services[service]?.volumes ?? []).map((volume) => {
    const [source = '', target = ''] = volume.split(':');
    return { source, target };
  });
}

/** Keys and values of .env.example, empty secrets included. */
export function exampleEnvironment(text = readText('.env.example')): Record<string, string> {
  const entries = text.split('\n').flatMap((line) => {
    const match = /^([A-Z_]+)=(.*)$/.exec(line);
    return match ? [[String(match[1]), String(match[2])] as const] : [];
  });
  return Object.fromEntries(entries);
}
