import { readEmail } from '../../users/canonical.js';

/**
 * Rejects an email in which something was mistyped. The routes that email any address accept it silently, and the user
 * would wait for an email that never comes.
 *
 * @throws AuthError `validation_failed`
 */
export function requireEmail(fields: ReadonlyMap<string, string>): void {
  const email = fields.get('email');
  // The route itself requires the field.
  if (email) readEmail(email, '/email');
}
