import { environmentOf } from '../stack/composeFile.ts';

/** Variables of a service with other values than compose gives them. */
export type Differences = Readonly<Record<string, string>>;

/** What a value may be that differs: an address (with a role and its password), a path, a port or the address to listen on. */
const PLACE = /^(?:[a-z]+:\/\/(?:[\w.-]+(?::[^@/]*)?@)?[\w.-]+:\d+(?:\/[\w./-]*)?|(?:\/[\w.-]+)+|\d+|[\d.]{7,})$/;

/**
 * The environment that compose gives a service, in which only addresses are others.
 *
 * @throws Error for a difference in anything else, or in a variable that compose does not set
 */
export function environmentHere(
  service: string,
  secrets: Readonly<Record<string, string>>,
  differences: Differences,
): Record<string, string> {
  const shipped = environmentOf(service, secrets);
  for (const [name, value] of Object.entries(differences)) {
    const before = shipped[name];
    if (before === undefined) throw new Error(`compose.yaml does not set ${name} for ${service}`);
    if (!PLACE.test(before) || !PLACE.test(value)) throw new Error(`${name} of ${service} is no address or path`);
  }
  return { ...shipped, ...differences };
}
