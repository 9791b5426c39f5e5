import { createHmac, timingSafeEqual } from 'node:crypto';

/** Whether a signature is the HMAC-SHA-256 of a value under one of the secrets, in base64 with or without padding. */
export function isSigned(value: string, signature: string, secrets: readonly string[]): boolean {
  const given = Buffer.from(withoutPadding(signature));
  return secrets.some((secret) => {
    const digest = createHmac('sha256', secret).update(value).digest('base64');
    const expected = Buffer.from(withoutPadding(digest));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

/** Splits a value at its last dot. Null if there is none, or nothing before it. */
export function splitSigned(value: string): { readonly value: string; readonly signature: string } | null {
  const dot = value.lastIndexOf('.');
  return dot < 1 ? null : { value: value.slice(0, dot), signature: value.slice(dot + 1) };
}

function withoutPadding(base64: string): string {
  return base64.replace(/={1,2}$/, '');
}
