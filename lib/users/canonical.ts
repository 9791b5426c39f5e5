import { domainToASCII } from 'node:url';
import { invalidField } from '../errors.js';
import { type Phrase, say } from '../phrases.js';

/** Returns an email in canonical form. @throws AuthError `validation_failed` */
export function readEmail(value: string, pointer: string): string {
  const email = canonicalEmail(value);
  if (email) return email;
  throw invalidField(pointer, 'invalid_email', emailFault(value));
}

/** Returns the fault of an email that {@link canonicalEmail} does not accept, for a field's `detail`. */
export function emailFault(value: unknown): Phrase {
  // Many mail servers deliver to none of these addresses (RFC 6531), and no rule says which two are one mailbox.
  return say(isInternationalized(value) ? 'internationalized-email' : 'invalid-email');
}

/** Whether a typed email has characters other than ASCII before the @. */
export function isInternationalized(value: unknown): boolean {
  const [, local = ''] = /^(.+)@[^@]+$/s.exec(typeof value === 'string' ? value.trim() : '') ?? [];
  return /[^\0-\x7f]/.test(local);
}

/** Hides all letters of the local part of an email except the first one. */
export function maskEmail(email: string): string {
  return email.replace(/(?<=^.)[^@]*(?=@)/, '…');
}

const MAX_EMAIL = 254;
const LOCAL_PART = /^(?![.-])(?!.*\.\.)(?!.*\.$)[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const HIDDEN = /[\p{C}\p{Z}]/u;
const URL_SYNTAX = /[/\\:?#%@[\]<>^|]/;
const USERNAME = /^[A-Za-z0-9_.-]{3,30}$/;

/**
 * Converts an email address to the form in which it is stored, compared and used as a recipient. Returns null if the
 * address is not accepted. Each mailbox has exactly one form, because otherwise it could have several accounts:
 *
 * - trimmed and in lower case;
 * - the local part in ASCII, without quotes, comments or commas, so that no look-alike (Kelvin sign, dotless i,
 *   zero-width or full-width characters) is accepted in place of another character. It must not start with a hyphen,
 *   because programs that send mail can mistake it for an option (CVE-2020-7769);
 * - the domain in ASCII (punycode, UTS 46), with at least two labels.
 */
export function canonicalEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const email = value.trim();
  const at = email.lastIndexOf('@');
  if (email.length > MAX_EMAIL || at < 1 || HIDDEN.test(email)) return null;
  const local = asciiLowerCase(email.slice(0, at));
  const typedDomain = email.slice(at + 1);
  if (!LOCAL_PART.test(local) || URL_SYNTAX.test(typedDomain)) return null;
  const domain = domainToASCII(typedDomain);
  const canonical = `${local}@${domain}`;
  return DOMAIN.test(domain) && canonical.length <= MAX_EMAIL ? canonical : null;
}

/** Returns a username in its stored form, or null if it is not 3 to 30 of `a-z 0-9 _ . -`, in any case. */
export function canonicalUsername(value: unknown): string | null {
  return typeof value === 'string' && USERNAME.test(value) ? asciiLowerCase(value) : null;
}

/** Lower-cases ASCII letters only, because `toLowerCase()` would turn the Kelvin sign into an ASCII k. */
export function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/**
 * Returns the mailbox of an email, for counting only. It ignores a suffix after `+` and the dots in the name, because
 * many services deliver all of these addresses to one mailbox.
 *
 * @param email in canonical form
 */
export function mailboxOf(email: string): string {
  const at = email.lastIndexOf('@');
  return email.slice(0, at).replace(/\+.*$/, '').replaceAll('.', '') + email.slice(at);
}
