import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { findProgram } from '../../setup/findProgram.ts';
import { MissingProgramError } from '../../setup/missingProgramError.ts';
import { programNamed } from '../../setup/programs.ts';
import { DevTools } from './devtools.ts';

const STOP_MS = 10_000;
const LOAD_MS = 15_000;
const POLL_MS = 20;
const ARGUMENTS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--remote-debugging-pipe',
];

export interface Tab {
  /** Goes to an address and waits until its page is loaded. */
  goto(url: string): Promise<void>;
  /** Runs an expression in the page; waits for a promise. Throws what it throws. */
  run<T = unknown>(expression: string): Promise<T>;
  reload(): Promise<void>;
  /** Back in the tab's history, from the back/forward cache where the browser kept the page there. */
  back(): Promise<void>;
  /** Shows this tab, which hides the one that was shown. */
  show(): Promise<void>;
  /** Closes it as its user would. */
  close(): Promise<void>;
  send<T>(method: string, params?: object): Promise<T>;
}

export interface Browser {
  /** A new tab, which is shown; the others are hidden. */
  open(url: string): Promise<Tab>;
  stop(): Promise<void>;
}

/**
 * Debian's Chromium with a profile of its own. It is driven without a library: those emulate a focus that keeps every page visible,
 * and switch the back/forward cache off, which are two things to be tested here.
 *
 * @param folder for its profile, emptied before and removed after; default: a new one of the system's temporary folder
 * @throws Error naming the apt line when the program is missing
 */
export async function startChromium(folder?: string): Promise<Browser> {
  const program = findProgram(programNamed('chromium'));
  if (program === undefined) throw new MissingProgramError('chromium');
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  const profile = folder ?? (await mkdtemp(path.join(tmpdir(), 'firsttoken-chromium-')));
  const child = spawn(program, [...ARGUMENTS, `--user-data-dir=${profile}`, 'about:blank'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    // A Ctrl-C in the terminal is the parent's to take.
    detached: process.platform !== 'win32',
  });
  // Who dies must not leave a browser behind; after a kill -9 the closed pipe ends it.
  const killNow = () => child.kill('SIGKILL');
  process.once('exit', killNow);
  const devtools = new DevTools(child.stdio[3] as Writable, child.stdio[4] as Readable);
  child.once('exit', () => devtools.fail(new Error('Chromium has ended.')));
  return {
    open: (url) => openTab(devtools, url),
    async stop() {
      await end(child, devtools);
      process.removeListener('exit', killNow);
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

async function end(child: ChildProcess, devtools: DevTools): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  devtools.send('Browser.close').catch(() => {});
  await exited;
  clearTimeout(timer);
}

/** A page that is just being left fails to answer, which is no answer yet. */
async function until(isLoaded: () => Promise<boolean>): Promise<void> {
  const giveUpAt = performance.now() + LOAD_MS;
  while (!(await isLoaded().catch(() => false))) {
    if (performance.now() > giveUpAt) throw new Error('Chromium does not load the page.');
    await wait(POLL_MS);
  }
}

interface Evaluated<T> {
  readonly result: { readonly value: T };
  readonly exceptionDetails?: { readonly text: string; readonly exception?: { readonly description?: string } };
}

async function openTab(devtools: DevTools, url: string): Promise<Tab> {
  const { targetId } = await devtools.send<{ targetId: string }>('Target.createTarget', { url: 'about:blank' });
  const attached = { targetId, flatten: true };
  const { sessionId } = await devtools.send<{ sessionId: string }>('Target.attachToTarget', attached);
  const send = <T>(method: string, params?: object): Promise<T> => devtools.send<T>(method, params, sessionId);

  const run = async <T>(expression: string): Promise<T> => {
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result, exceptionDetails } = await send<Evaluated<T>>('Runtime.evaluate', params);
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  /** Waits for another page than the marked one, and for its end of loading. */
  const leave = async (go: () => Promise<unknown>): Promise<void> => {
    await run('window.isLeft = true');
    await go();
    await until(() => run('!window.isLeft && document.readyState === "complete"'));
  };

  const tab: Tab = {
    run,
    send,
    goto: (address) => leave(() => send('Page.navigate', { url: address })),
    reload: () => leave(() => send('Page.reload')),
    async back() {
      const { currentIndex, entries } = await send<{ currentIndex: number; entries: { id: number; url: string }[] }>(
        'Page.getNavigationHistory',
      );
      const { id: entryId, url: address } = entries[currentIndex - 1]!;
      await send('Page.navigateToHistoryEntry', { entryId });
      await until(() => run(`location.href === ${JSON.stringify(address)}`));
    },
    show: () => devtools.send('Target.activateTarget', { targetId }).then(() => {}),
    close: () => devtools.send('Target.closeTarget', { targetId }).then(() => {}),
  };
  await tab.goto(url);
  return tab;
}
