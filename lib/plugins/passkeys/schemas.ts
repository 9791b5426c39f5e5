import * as z from 'zod';
import { text } from '../../http/route.js';

// Other values that a browser sends are dropped, because WebAuthn keeps adding some. A whole body has at most 16 KiB.
const encoded = () => text(16_384).describe('In base64url');

/** The JSON form of a new credential (WebAuthn Level 3, 5.1: RegistrationResponseJSON). */
export const registrationResponse = () =>
  z.object({
    id: encoded(),
    rawId: encoded(),
    type: text(32).describe('public-key'),
    response: z.object({
      clientDataJSON: encoded(),
      attestationObject: encoded(),
      transports: z.array(text(64)).max(32).optional(),
    }),
  });

/** The JSON form of an assertion (AuthenticationResponseJSON). */
export const authenticationResponse = () =>
  z.object({
    id: encoded(),
    rawId: encoded(),
    type: text(32).describe('public-key'),
    response: z.object({
      clientDataJSON: encoded(),
      authenticatorData: encoded(),
      signature: encoded(),
      userHandle: z.string().max(1024).nullish().describe('In base64url'),
    }),
  });

const descriptor = () =>
  z.object({
    id: z.string(),
    type: z.literal('public-key'),
    transports: z.array(z.string()),
  });

/** PublicKeyCredentialCreationOptionsJSON. */
export const creationOptions = () =>
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
  });

/** PublicKeyCredentialRequestOptionsJSON. */
export const requestOptions = () =>
  z.object({
    rpId: z.string(),
    challenge: z.string(),
    timeout: z.int().describe('In milliseconds'),
    allowCredentials: z.array(descriptor()),
    userVerification: z.literal('required'),
  });

/** The options of PublicKeyCredential.signalAllAcceptedCredentials(). */
export const signalShape = () =>
  z.object({
    rp_id: z.string().describe('The rpId'),
    user_id: z.string().describe('The userId, in base64url'),
    accepted: z
      .array(z.string())
      .describe('The allAcceptedCredentialIds, in base64url, with passkeys that an undo can restore'),
  });
