import pg from 'pg';
import type { Screen } from '../screen.ts';
import { backfill } from './backfill.ts';

const BAR_WIDTH = 30;
/** Where nothing is redrawn, so many lines in all. */
const PLAIN_STEPS = 5;

/** Writes the history and shows how far it is: a bar on a terminal, a few lines elsewhere. */
export async function showBackfill(
  databaseUrl: string,
  { hours, seed }: { readonly hours: number; readonly seed: number },
  { screen, plain, signal }: { readonly screen: Screen; readonly plain: boolean; readonly signal: AbortSignal },
): Promise<void> {
  // The service's own connections give up after seconds; a day of history takes longer.
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 });
  const beganMs = performance.now();
  let told = 0;
  const onProgress = ({ rows, share }: { readonly rows: number; readonly share: number }): void => {
    const seconds = (performance.now() - beganMs) / 1_000;
    const left = Math.round((seconds / share) * (1 - share));
    const full = Math.round(share * BAR_WIDTH);
    const rate = Math.round(rows / seconds).toLocaleString('en');
    const line = `  ${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)} ${rows.toLocaleString('en')} rows  ${rate}/s  ${left} s left`;
    if (!plain) screen.draw([line]);
    else if (share * PLAIN_STEPS >= told + 1) {
      told = Math.floor(share * PLAIN_STEPS);
      screen.say(line);
    }
  };
  try {
    screen.say(`writing ${hours} hours of synthetic history …`);
    const rows = await backfill({ pool, hours, seed, onProgress, signal });
    const seconds = ((performance.now() - beganMs) / 1_000).toFixed(0);
    screen.say(rows === 0 ? '  it is there already' : `  ${rows.toLocaleString('en')} requests in ${seconds} s`);
  } finally {
    await pool.end();
  }
}
