import { declareEvents } from '../../outbox/events.js';

declare module '../../outbox/events.js' {
  interface EventDetails {
    /** A user confirmed an authenticator app: the first one, or another in its place. */
    'second_factor.enabled': { readonly userId: string };
    /**
     * The second factor of a user was switched off. `adminId` is the administrator who did it; null if the user or the app
     * itself did.
     */
    'second_factor.disabled': { readonly userId: string; readonly adminId: string | null };
    /** A recovery code was used up: by a sign-in or a reauthentication. */
    'recovery_code.used': { readonly userId: string };
  }
}

declareEvents('second_factor.enabled', 'second_factor.disabled', 'recovery_code.used');
