import { createPublicKey, type JsonWebKey } from 'node:crypto';

/** The algorithms of passkeys, in order of preference: EdDSA, ES256 and RS256 (RFC 9053, RFC 8812). */
export const ALGORITHMS = [-8, -7, -257] as const;

// The labels of COSE keys (RFC 9052, 7; RFC 9053, 7; RFC 8230, 4).
const KTY = 1;
const ALG = 3;
const CRV_OR_N = -1;
const X_OR_E = -2;
const Y = -3;

const MIN_RSA_BITS = 2048;
const MAX_RSA_BITS = 4096;

/**
 * Whether a COSE key is a usable one of {@link ALGORITHMS}. Without an attestation nothing else shows it before the first
 * sign-in, and a passkey that can never sign in would still count as a way in.
 */
export function isUsableKey(cose: ReadonlyMap<unknown, unknown>): boolean {
  const jwk = jwkOf(cose);
  if (!jwk) return false;
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: jwk, format: 'jwk' });
    const bits = asymmetricKeyDetails?.modulusLength;
    return bits === undefined || (bits >= MIN_RSA_BITS && bits <= MAX_RSA_BITS);
  } catch {
    return false;
  }
}

function jwkOf(cose: ReadonlyMap<unknown, unknown>): JsonWebKey | null {
  const text = (label: number) => {
    const bytes = cose.get(label);
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('base64url') : '';
  };
  switch (
    `${cose.get(ALG)} ${cose.get(KTY)} ${cose.get(CRV_OR_N) instanceof Uint8Array ? '' : cose.get(CRV_OR_N)}`
  ) {
    case '-8 1 6':
      return { kty: 'OKP', crv: 'Ed25519', x: text(X_OR_E) };
    case '-7 2 1':
      return { kty: 'EC', crv: 'P-256', x: text(X_OR_E), y: text(Y) };
    case '-257 3 ':
      return { kty: 'RSA', n: text(CRV_OR_N), e: text(X_OR_E) };
    default:
      return null;
  }
}
