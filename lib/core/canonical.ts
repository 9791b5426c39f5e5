import { domainToASCII } from 'node:url';

const MAX_EMAIL = 254;
const LOCAL_PART = /^(?!\.)(?!.*\.\.)(?!.*\.$)[a-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}$/;
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?!\d+$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])$/;
const HIDDEN = /[\p{C}\p{Z}]/u;
const URL_SYNTAX = /[/\\:?#%@[\]<>^|]/;
const USERNAME = /^[A-Za-z0-9_.-]{3,30}$/;

/**
 * The one spelling under which an email address is stored, compared and written to; null when it is not an
 * address we take. One mailbox must have one spelling here, or two people could hold "the same" account:
 *
 * - trimmed and lower-cased;
 * - the part before the `@` in plain ASCII without quotes, comments or commas, so that no Kelvin sign, dotless i,
 *   zero-width or full-width character can stand for another;
 * - the domain in its ASCII form (punycode, UTS 46), of two labels at least.
 */
export function canonicalEmail(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const email = value.trim();
  const at = email.lastIndexOf('@');
  // Checked before lower-casing: the Kelvin sign, for one, becomes a plain k.
  if (email.length > MAX_EMAIL || at < 1 || HIDDEN.test(email)) return null;
  const local = asciiLowerCase(email.slice(0, at));
  const typedDomain = email.slice(at + 1);
  if (!LOCAL_PART.test(local) || URL_SYNTAX.test(typedDomain)) return null;
  const domain = domainToASCII(typedDomain);
  const canonical = `${local}@${domain}`;
  return DOMAIN.test(domain) && canonical.length <= MAX_EMAIL ? canonical : null;
}

/** The stored spelling of a username; null when it is not one: 3 to 30 of `a-z 0-9 _ . -`, in any case. */
export function canonicalUsername(value: unknown): string | null {
  return typeof value === 'string' && USERNAME.test(value) ? asciiLowerCase(value) : null;
}

function asciiLowerCase(text: string): string {
  return text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
