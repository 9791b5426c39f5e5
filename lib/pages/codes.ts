/** The form of a code that a user types once. */
export interface CodeForm {
  /** The number of letters and digits. A code of this length is complete, so a script sends it. */
  readonly length: number;
  /** Whether it has only digits, for which phones have a keyboard. */
  readonly isNumeric: boolean;
}

/** The forms of codes, by what creates them. */
export const CODES = {
  /** The codes in emails, as `EmailedCodes` creates them. */
  emailed: { length: 8, isNumeric: true },
  /** The codes of authenticator apps. */
  totp: { length: 6, isNumeric: true },
} as const satisfies Readonly<Record<string, CodeForm>>;
