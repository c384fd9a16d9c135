/** A program of the system that a test runs for real. */
export interface Program {
  readonly name: string;
  /** Other names that the same program goes by elsewhere. */
  readonly alsoNamed?: readonly string[];
  /** Arguments with which it ends well if it is usable; without them, that it is found is enough. */
  readonly probe?: readonly string[];
  readonly debian: string;
  /** Where Ubuntu calls it something else. */
  readonly ubuntu?: string;
  readonly homebrew: string;
  /** What it is needed for. */
  readonly purpose: string;
}

/** Everything that the full test suite needs beside Node and npm. The only list of it. */
export const PROGRAMS: readonly Program[] = [
  {
    name: 'prometheus',
    debian: 'prometheus',
    homebrew: 'prometheus',
    purpose: 'dashboards and rules on a real Prometheus',
  },
  {
    name: 'promtool',
    debian: 'prometheus',
    homebrew: 'prometheus',
    purpose: 'tests of the recording and alerting rules',
  },
  {
    name: 'prometheus-alertmanager',
    alsoNamed: ['alertmanager'],
    debian: 'prometheus-alertmanager',
    homebrew: 'alertmanager',
    purpose: 'an alert on its way to a page',
  },
  {
    name: 'amtool',
    debian: 'prometheus-alertmanager',
    homebrew: 'alertmanager',
    purpose: 'a look at its configuration',
  },
  {
    name: 'chromium',
    alsoNamed: ['chromium-browser', 'google-chrome'],
    debian: 'chromium',
    ubuntu: 'chromium-browser',
    homebrew: '--cask chromium',
    purpose: 'the browser SDK and the preview in a real browser',
  },
  {
    name: 'nginx',
    debian: 'nginx',
    homebrew: 'nginx',
    purpose: 'the gateway, and the proxies that the doctor must find',
  },
  { name: 'jsonnet', debian: 'jsonnet', homebrew: 'jsonnet', purpose: 'the mixin' },
  { name: 'curl', debian: 'curl', homebrew: 'curl', purpose: 'the examples of the documents' },
  {
    name: 'faketime',
    debian: 'faketime',
    homebrew: 'libfaketime',
    purpose: 'a wall clock that jumps, in the chaos run',
  },
  {
    name: 'python3',
    probe: ['-c', 'import ensurepip, venv'],
    debian: 'python3-venv',
    homebrew: 'python@3',
    purpose: 'the Python middleware',
  },
];

export function programNamed(name: string): Program {
  const program = PROGRAMS.find((each) => each.name === name);
  if (program === undefined) throw new Error(`setup/programs.ts does not list ${name}`);
  return program;
}
