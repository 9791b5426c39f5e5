// RFC 6238 with the parameters that every authenticator app knows.
const SECONDS = 30;
const SECRET_BYTES = 20; // 160 bits: RFC 4226, 4, R6
const DIGITS = 6;
const ALGORITHM = 'SHA1';
/** A code may be from the step before or after: RFC 6238, 5.2. */
const WINDOW = 1;

/** Loaded on first use, because most requests need neither it nor the QR code. */
const otpauth = () => import('otpauth');

/** A new secret, in base32. */
export async function newSecret(): Promise<string> {
  const { Secret } = await otpauth();
  return new Secret({ size: SECRET_BYTES }).base32;
}

/** The time step at a time in milliseconds. */
export function stepAt(now: number): number {
  return Math.floor(now / (SECONDS * 1000));
}

/** The time step of a code. Null if it is not one of now. */
export async function stepOf(secret: string, code: string, now: number): Promise<number | null> {
  const token = code.replace(/[\s-]/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const { Secret, TOTP } = await otpauth();
  const delta = TOTP.validate({
    token,
    secret: Secret.fromBase32(secret),
    timestamp: now,
    period: SECONDS,
    digits: DIGITS,
    algorithm: ALGORITHM,
    window: WINDOW,
  });
  return delta === null ? null : stepAt(now) + delta;
}

/**
 * The address that authenticator apps read from the QR code:
 * https://github.com/google/google-authenticator/wiki/Key-Uri-Format
 */
export async function keyUri(secret: string, issuer: string, account: string): Promise<string> {
  const { TOTP } = await otpauth();
  // Apps split the label at its colon, even an escaped one.
  const label = account.replaceAll(':', ' ');
  return new TOTP({
    issuer,
    label,
    secret,
    period: SECONDS,
    digits: DIGITS,
    algorithm: ALGORITHM,
  }).toString();
}

/** The QR code of an address. */
export async function qrSvg(uri: string): Promise<string> {
  const { renderSVG } = await import('uqr');
  // ISO/IEC 18004 wants a margin of four modules.
  return renderSVG(uri, { border: 4 });
}
