import { REJECTION_CODES, type Result } from '../../contract/rejections.ts';
import { expectThat } from './expectThat.ts';
import { CANARY } from './nasty.ts';

const CODES: ReadonlySet<string> = new Set(REJECTION_CODES);
/** All sentences that were ever given. A reader has a few; one that repeats its input has as many as there are inputs. */
const seen = new Set<string>();
const MOST_SENTENCES = 1_000;

/** A refusal is one of the closed list, and its sentence never repeats the input. */
export function checkRefusal<T>(result: Result<T>): T | undefined {
  if (result.ok) return result.value;
  const { code, message } = result.rejection;
  expectThat(CODES.has(code), 'a code that is not on the list');
  expectThat(!message.includes(CANARY), 'a refusal repeats its input');
  seen.add(message);
  expectThat(seen.size <= MOST_SENTENCES, 'refusals repeat their inputs');
  return undefined;
}
