import * as z from 'zod';
import { named, text } from '../../http/route.js';

// Other values that a browser sends are dropped, because WebAuthn keeps adding some. A whole body has at most 16 KiB.
const encoded = () => text(16_384).describe('In base64url');

/** The JSON form of a new credential (WebAuthn Level 3, 5.1: RegistrationResponseJSON). */
export const registrationResponse = () =>
  named(
    'NewPasskeyResponse',
    'The response of an authenticator that has created a passkey, as JSON (RegistrationResponseJSON)',
    z.object({
      id: encoded(),
      rawId: encoded(),
      type: text(32).describe('Always public-key'),
      response: z.object({
        clientDataJSON: encoded(),
        attestationObject: encoded(),
        transports: z.array(text(64)).max(32).optional(),
      }),
    }),
  );

/** The JSON form of an assertion (AuthenticationResponseJSON). */
export const authenticationResponse = () =>
  named(
    'PasskeyResponse',
    'The response of an authenticator to a sign-in, as JSON (AuthenticationResponseJSON)',
    z.object({
      id: encoded(),
      rawId: encoded(),
      type: text(32).describe('Always public-key'),
      response: z.object({
        clientDataJSON: encoded(),
        authenticatorData: encoded(),
        signature: encoded(),
        userHandle: z.string().max(1024).nullish().describe('In base64url'),
      }),
    }),
  );

const descriptor = () =>
  named(
    'PasskeyDescriptor',
    'A passkey in options',
    z.object({
      id: z.string(),
      type: z.literal('public-key'),
      transports: z.array(z.string()),
    }),
  );

/** PublicKeyCredentialCreationOptionsJSON. */
export const creationOptions = () =>
  named(
    'CreationOptions',
    'Options for navigator.credentials.create(), as JSON',
    z.object({
      rp: z.object({ id: z.string(), name: z.string() }),
      user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
      challenge: z.string(),
      pubKeyCredParams: z.array(z.object({ type: z.literal('public-key'), alg: z.int() })),
      timeout: z.int().describe('In milliseconds'),
      excludeCredentials: z.array(descriptor()),
      authenticatorSelection: z.object({
        residentKey: z.literal('required'),
        requireResidentKey: z.literal(true),
        userVerification: z.literal('required'),
      }),
      attestation: z.literal('none'),
      extensions: z.object({ credProps: z.literal(true) }),
    }),
  );

/** PublicKeyCredentialRequestOptionsJSON. */
export const requestOptions = () =>
  named(
    'RequestOptions',
    'Options for navigator.credentials.get(), as JSON',
    z.object({
      rpId: z.string(),
      challenge: z.string(),
      timeout: z.int().describe('In milliseconds'),
      allowCredentials: z.array(descriptor()),
      userVerification: z.literal('required'),
    }),
  );

/** The options of PublicKeyCredential.signalAllAcceptedCredentials(). */
export const signalShape = () =>
  z.object({
    rp_id: z.string().describe('The rpId'),
    user_id: z.string().describe('The userId, in base64url'),
    accepted: z
      .array(z.string())
      .describe('The allAcceptedCredentialIds, in base64url, with passkeys that an undo can restore'),
  });
