export interface System {
  readonly kind: 'debian' | 'ubuntu' | 'macos' | 'other';
  /** For people. */
  readonly name: string;
}

/** @param osRelease text of /etc/os-release; empty where there is none */
export function systemOf(platform: NodeJS.Platform, osRelease: string): System {
  if (platform === 'darwin') return { kind: 'macos', name: 'macOS' };
  const field = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(osRelease)?.[1] ?? '';
  const families = [field('ID'), ...field('ID_LIKE').split(' ')];
  const name = field('PRETTY_NAME') || platform;
  if (platform !== 'linux') return { kind: 'other', name };
  if (families.includes('ubuntu')) return { kind: 'ubuntu', name };
  return { kind: families.includes('debian') ? 'debian' : 'other', name };
}
