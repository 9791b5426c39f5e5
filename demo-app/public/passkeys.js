import { Problem } from './api.js';

/** Whether this browser has passkeys. It has none on addresses other than https and localhost. */
export const hasPasskeys = typeof PublicKeyCredential !== 'undefined';

/** Asks the browser to make a passkey. @param options the JSON of the server */
export async function createPasskey(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? decoded(options);
  return encoded(await answered(navigator.credentials.create({ publicKey })));
}

/** Asks the browser for a passkey. @param more how to ask, such as `mediation` and `signal` */
export async function getPasskey(options, more = {}) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? decoded(options);
  return encoded(await answered(navigator.credentials.get({ publicKey, ...more })));
}

// The browser does not tell a page whether there is no passkey, or whether somebody did not want to use it.
const MESSAGES = {
  NotAllowedError: 'No passkey was used: it was cancelled, took too long, or there is none on this device.',
  InvalidStateError: 'This device has a passkey for your account already.',
  NotSupportedError: 'This device cannot make a passkey. Try a phone, a password manager or a security key.',
  SecurityError: 'Passkeys do not work at this address.',
};

async function answered(request) {
  try {
    return await request;
  } catch (error) {
    throw new Problem({ detail: MESSAGES[error.name] ?? 'The passkey could not be used. Try again.' });
  }
}

// For browsers from before 2025, which do not convert from and to JSON themselves.

const bytesOf = (text) =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (character) =>
    character.charCodeAt(0),
  );

const textOf = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

function decoded({ challenge, user, ...options }) {
  const publicKey = { ...options, challenge: bytesOf(challenge) };
  if (user) publicKey.user = { ...user, id: bytesOf(user.id) };
  for (const list of ['allowCredentials', 'excludeCredentials'])
    publicKey[list] = options[list]?.map((one) => ({ ...one, id: bytesOf(one.id) }));
  return publicKey;
}

function encoded(credential) {
  if (credential.toJSON) return credential.toJSON();
  const { id, rawId, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const texts = parts.filter((part) => response[part]).map((part) => [part, textOf(response[part])]);
  const transports = response.getTransports && { transports: response.getTransports() };
  return { id, rawId: textOf(rawId), type, response: { ...Object.fromEntries(texts), ...transports } };
}
