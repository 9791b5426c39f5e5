import { derivedUuid } from '../crypto/uuid.js';

/** What identifies an imported user whose row has no id of its own. */
export interface ImportedUser {
  readonly ref: string | null;
  /** The email and the username, in canonical form, or what else the user signs in with. */
  readonly names: readonly (string | null)[];
  readonly createdAt: Date | null;
}

/**
 * The id of an imported account: the same for the same row, so that a run that broke off can be repeated, and sessions of
 * the older system lead to it. Nobody else's account has it, whatever they sign up with.
 */
export function importedId({ ref, names, createdAt }: ImportedUser): string {
  return derivedUuid(JSON.stringify(['import', ref, ...names]), createdAt?.getTime() ?? 0);
}
