import { hash } from 'node:crypto';
import * as z from 'zod';
import { isLoopback, readOptions, schemaOf } from '../../config/options.js';
import { boundedFetch } from '../../context/bounded-fetch.js';
import { abortedAfter } from '../../context/deadline.js';

/** Options of {@link haveIBeenPwned}. */
export interface HaveIBeenPwnedOptions {
  /**
   * The URL of the service, or of your own copy of it, which must be https or on the local machine. `/range/` and the
   * five digits are added.
   * @default 'https://api.pwnedpasswords.com'
   */
  url?: string;
  /** How often a password must have been seen in breaches to be rejected, at least 1. @default 1 */
  minCount?: number;
}

/** @internal */
export const schema = () =>
  schemaOf<HaveIBeenPwnedOptions>()({
    url: z
      .string()
      .refine(isSafe, 'must be an https URL, or http on the local machine, without a user, query or fragment')
      .default('https://api.pwnedpasswords.com'),
    minCount: z.int('must be a whole number').min(1, 'must be at least 1').default(1),
  });

/** After this time, `credentialPassword()` no longer waits for the check. */
const TIMEOUT_MS = 2000;
const PREFIX_DIGITS = 5;
const LINE = /^([\dA-F]{35}):(\d+)$/i;

/**
 * Creates a check of new passwords against Pwned Passwords, the list of Have I Been Pwned. It sends the service only
 * the first five of the 40 digits of the password's SHA-1, and searches the hundreds of entries in the response for the
 * rest. The response is padded, so that its size does not reveal the digits to an observer of the connection.
 *
 * The check throws if the service does not respond with a valid list, so that `onBreachCheckFailure` decides.
 *
 * @example
 * credentialPassword({ isBreached: haveIBeenPwned() })
 *
 * @see https://haveibeenpwned.com/API/v3#PwnedPasswords
 * @throws TypeError on invalid options
 */
export function haveIBeenPwned(options: HaveIBeenPwnedOptions = {}): (password: string) => Promise<boolean> {
  const { url, minCount } = readOptions('haveIBeenPwned', schema, options);
  const ranges = `${url.replace(/\/+$/, '')}/range/`;
  return async (password) => {
    const digits = hash('sha1', password.normalize('NFC')).toUpperCase();
    const list = await request(`${ranges}${digits.slice(0, PREFIX_DIGITS)}`);
    // Entries for padding have the count 0, which is less than any `minCount`.
    return readEntries(list).some(
      ({ rest, count }) => rest === digits.slice(PREFIX_DIGITS) && count >= minCount,
    );
  };
}

/** @throws Error if the response does not have the status 200, or is larger than 1 MiB */
async function request(url: string): Promise<string> {
  const response = await boundedFetch(abortedAfter(TIMEOUT_MS))(url, {
    headers: { 'Add-Padding': 'true', 'User-Agent': 'latchkey' },
  });
  if (response.status !== 200) throw new Error(`the breach check got the status ${response.status}`);
  return response.text();
}

/** @throws Error if the list is empty, or if a line is not an entry. One line break at the end is allowed */
function readEntries(list: string): { readonly rest: string; readonly count: number }[] {
  return list
    .replace(/\r?\n$/, '')
    .split(/\r?\n/)
    .map((line) => {
      const [, rest, count] = LINE.exec(line) ?? [];
      if (rest === undefined) throw new Error('the breach check got a response that is not a list of hashes');
      return { rest: rest.toUpperCase(), count: Number(count) };
    });
}

function isSafe(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, username, password } = new URL(url);
  // A path is added to it.
  const isPlain = username === '' && password === '' && !/[?#]/.test(url);
  return isPlain && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)));
}
