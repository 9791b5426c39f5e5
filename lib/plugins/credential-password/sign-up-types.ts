import type { IssuedSession } from '../../sessions/signed-in.js';
import type { User } from '../../tables/user.js';
import type { SignUpInput } from './inputs.js';
import type { CredentialPasswordOptions } from './options.js';

type Flag<O, Name extends keyof CredentialPasswordOptions> = Name extends keyof O ? O[Name] : false;
type IfOn<Value, Yes, No> = [Value] extends [true] ? Yes : true extends Value ? Yes | No : No;

/** The result of `auth.credential.signUp`, depending on the options: see {@link CredentialApi.signUp}. */
export type SignUpAnswer<O> = IfOn<
  Flag<O, 'concealExistingEmails'>,
  null,
  IfOn<Flag<O, 'signInOnSignUp'>, IssuedSession, { readonly user: User }>
>;

type Person = Omit<SignUpInput, 'email' | 'username'>;

interface ByIdentifier {
  email: SignUpInput;
  username: Person & { /** See {@link SignUpInput}. */ username: string };
  either: SignUpInput | (Person & { email?: undefined /** See {@link SignUpInput}. */; username: string });
}

type IdentifierOf<O> = O extends { identifier: infer I extends keyof ByIdentifier } ? I : 'email';

/** The input of `auth.credential.signUp`, depending on the option `identifier`. */
export type SignUpInputOf<O> = ByIdentifier[IdentifierOf<O>];
