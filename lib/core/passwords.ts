import type { Passwords } from './contribution.js';
import type { Core } from './core.js';
import { howToEnablePasswords } from './switches.js';

/** The passwords of the plugin that has them. Null if none has. */
export function passwordsOf({ contributions }: Core): Passwords | null {
  return contributions.find(({ passwords }) => passwords)?.passwords ?? null;
}

/** @param what the call that needs them, for the message. @throws TypeError if no plugin has passwords */
export function requirePasswords(core: Core, what: string): Passwords {
  const passwords = passwordsOf(core);
  if (passwords) return passwords;
  throw new TypeError(`latchkey: ${what} requires passwords: ${howToEnablePasswords()}`);
}
