/** How, and how strongly, a user has authenticated. */
export interface Assurance {
  /** The authenticator assurance level (NIST SP 800-63B-4): 2 with two factors. */
  readonly aal: number;
  /** How the user authenticated (RFC 8176). */
  readonly amr: readonly string[];
}

/** What a person has shown of themselves. */
export interface Shown {
  /** How they authenticated (RFC 8176): `pwd`, `otp`, `hwk`, `swk`, `user`, `mfa`; or `fed`, at a provider. */
  readonly amr: readonly string[];
  /** @default 1 */
  readonly aal?: 1 | 2;
  /** The provider at which they authenticated. @default none */
  readonly provider?: string;
}
