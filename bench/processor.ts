import { readdir, readFile } from 'node:fs/promises';

/** Of /proc: what one tick of processor time is on Linux. */
const TICK_US = 10_000;

interface Stat {
  readonly parent: number;
  readonly cpuUs: number;
}

async function statOf(pid: number | string): Promise<Stat | null> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (text === null) return null;
  // The name in brackets may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  // utime, stime, and those of children that have ended.
  const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
  return { parent: Number(fields[1]), cpuUs: ticks * TICK_US };
}

/** Processor time of a process so far, and of the processes that it started. Microseconds, in steps of 10 ms. */
export async function cpuUsOf(pid: number): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map(async (each) => ({ pid: Number(each), stat: await statOf(each) })));
  let sum = 0;
  for (const { pid: each, stat } of stats) if (stat && (each === pid || stat.parent === pid)) sum += stat.cpuUs;
  return sum;
}

export async function residentBytesOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024;
}

/** The most resident memory while `work` runs, looked at every 50 ms. */
export async function mostResidentBytes<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; bytes: number }> {
  let bytes = 0;
  const look = setInterval(async () => {
    bytes = Math.max(bytes, await residentBytesOf(pid).catch(() => 0));
  }, 50);
  try {
    const result = await work();
    return { result, bytes };
  } finally {
    clearInterval(look);
  }
}
