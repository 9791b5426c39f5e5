import { withTimeout } from '../../context/deadline.js';
import { EmailProof } from '../../users/email-proof.js';
import type { AuthorizationServer } from './authorization-server.js';
import { contradictsIdToken } from './openid-client.js';
import type { Claims, Profile, ProfileSources } from './provider.js';
import type { SigningKeys } from './signing-keys.js';
import { isStorable } from './token-response.js';

/** A validated profile. */
export interface CheckedProfile {
  readonly subject: string;
  /** Null if there is none. */
  readonly formerSubject: string | null;
  readonly email: unknown;
  /** How well the provider's word proves the email. */
  readonly emailProof: EmailProof;
  /** Whether it can sign the person in to an existing account with this email: see `linkByVerifiedEmail`. */
  readonly joins: boolean;
}

// The lengths of the columns.
export const MAX_ISSUER = 255;
const MAX_SUBJECT_LENGTH = 255;
// Short enough to leave time for the rest of the sign-in.
const OPTIONAL_TIMEOUT_MS = 2000;
// The results of String() for missing or unsuitable values. Many people would share such a subject.
const STRINGIFIED = /^(undefined|null|true|false|NaN|-?Infinity|\[object \w+\])$/;

/** The input of {@link profileSources}. */
interface SourcesInput extends Pick<ProfileSources, 'accessToken' | 'claims'> {
  readonly server: AuthorizationServer;
  readonly keys: SigningKeys;
  onFailure(error: unknown): void;
}

/** Creates the sources of a profile. Provider modules request userinfo and other resources only if they need them. */
export function profileSources({ server, keys, onFailure, ...known }: SourcesInput): ProfileSources {
  const { accessToken, claims } = known;
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
  const userinfo = () => keys.userinfo(server, accessToken, String(claims.sub));
  return {
    ...known,
    userinfo: () => (claims.email === undefined ? userinfo() : optional(userinfo(), onFailure)),
    get: (url) => server.get(url, headers),
  };
}

/** Ignores a failure of userinfo unless it contradicts the ID token, which already has all that a sign-in needs. */
async function optional(
  userinfo: Promise<Claims | null>,
  onFailure: (error: unknown) => void,
): Promise<Claims | null> {
  try {
    return await withTimeout(userinfo, OPTIONAL_TIMEOUT_MS, () => new Error('no response in time'));
  } catch (error) {
    if (contradictsIdToken(error)) throw error;
    onFailure(error);
    return null;
  }
}

/** @throws Error if the subject does not identify exactly one person */
export function checkedProfile(profile: Profile): CheckedProfile {
  const { subject, formerSubject, email, emailIsAuthoritative } = profile;
  const emailProof = EmailProof.ofProvider(profile);
  return {
    subject: checkedSubject(subject),
    formerSubject: formerSubject === undefined ? null : checkedSubject(formerSubject),
    email,
    emailProof,
    joins: emailProof.reaches('provider') && emailIsAuthoritative !== false,
  };
}

/** @throws Error if the value does not identify exactly one person */
export function checkedSubject(value: unknown): string {
  // Other numbers are rounded, so two people could have the same subject.
  const subject = Number.isSafeInteger(value) ? String(value) : value;
  if (typeof subject !== 'string' || subject.trim() === '' || !isStorable(subject, MAX_SUBJECT_LENGTH))
    throw new Error('the subject is missing, or is neither a string nor an exact integer');
  if (STRINGIFIED.test(subject))
    throw new Error(`the subject is "${subject}", which is not the id of an account`);
  return subject;
}
