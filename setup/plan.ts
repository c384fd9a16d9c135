import type { Program } from './programs.ts';
import type { System } from './system.ts';

/** How to get what is missing. */
export interface Plan {
  /** What this command can run itself; empty where it only says what to do. */
  readonly commands: readonly (readonly string[])[];
  readonly advice: readonly string[];
}

/** @param become what runs a command as root: `[]` for root, `['sudo']`, or null where there is no way */
export function planFor(system: System, missing: readonly Program[], become: readonly string[] | null): Plan {
  const unique = (names: readonly string[]) => [...new Set(names)];
  if (system.kind === 'debian' || system.kind === 'ubuntu') {
    const packages = unique(missing.map((each) => (system.kind === 'ubuntu' && each.ubuntu) || each.debian));
    const apt = [
      ['apt-get', 'update', '-q'],
      [
        'env',
        'DEBIAN_FRONTEND=noninteractive',
        'apt-get',
        'install',
        '-q',
        '-y',
        '--no-install-recommends',
        ...packages,
      ],
    ];
    if (become !== null) return { commands: apt.map((command) => [...become, ...command]), advice: [] };
    return { commands: [], advice: ['As root:', `  apt-get update && apt-get install ${packages.join(' ')}`] };
  }
  if (system.kind === 'macos') {
    const lines = unique(missing.map(({ homebrew }) => homebrew)).map((name) => `  brew install ${name}`);
    return { commands: [], advice: ['With Homebrew (https://brew.sh):', ...lines] };
  }
  return {
    commands: [],
    advice: [
      `Packages of ${system.name} are not known here. These programs must be on the PATH:`,
      ...missing.map(({ name, debian }) => `  ${name} (on Debian in the package ${debian})`),
    ],
  };
}
