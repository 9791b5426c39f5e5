type Server = Pick<
  typeof import('@simplewebauthn/server'),
  'verifyAuthenticationResponse' | 'verifyRegistrationResponse'
>;
type Helpers = Pick<
  typeof import('@simplewebauthn/server/helpers'),
  'decodeAttestationObject' | 'decodeCredentialPublicKey'
>;

/** What passkeys use of @simplewebauthn/server. */
export interface WebAuthn extends Server, Helpers {}

/**
 * Loads @simplewebauthn/server, which takes about half a second the first time.
 *
 * @throws Error naming the package to install
 */
export async function loadWebAuthn(): Promise<WebAuthn> {
  try {
    const server = await import('@simplewebauthn/server');
    const helpers = await import('@simplewebauthn/server/helpers');
    const { verifyAuthenticationResponse, verifyRegistrationResponse } = server;
    const { decodeAttestationObject, decodeCredentialPublicKey } = helpers;
    return {
      ...{ verifyAuthenticationResponse, verifyRegistrationResponse },
      ...{ decodeAttestationObject, decodeCredentialPublicKey },
    };
  } catch (cause) {
    throw new Error('latchkey: passkeys need an additional package: npm install @simplewebauthn/server', {
      cause,
    });
  }
}
