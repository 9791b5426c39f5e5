import type { Request } from 'express';
import * as z from 'zod';
import { schemaOf } from './options.js';

/** The names of the routes that can ask for a human. The first four are the default. */
const ROUTES = [
  'signup/credential',
  'signin/email',
  'passwords/request-reset',
  'oauth/token',
  'signin/credential',
] as const;

/**
 * A route that can ask for a human: `signup/credential`, `signin/email` and `passwords/request-reset` are POST routes
 * with these paths. `signin/credential` asks only in browsers that the account does not know. `oauth/token` is for native
 * apps that create accounts with a provider's token; latchkey has no such route yet, so it has no effect.
 */
export type HumanCheckRoute = (typeof ROUTES)[number];

/** The routes that ask for a human by default. */
export const DEFAULT_ROUTES: readonly HumanCheckRoute[] = ROUTES.slice(0, 4);

/** The request that a human check is about. */
export interface HumanCheckFacts {
  /** The request, such as to admit your own apps by a header. */
  readonly request: Request;
  /** The client's IP address. Null if it is unknown. */
  readonly ip: string | null;
  /** The route that the request calls. */
  readonly route: HumanCheckRoute;
  /** The email in the request's body, in its canonical form. Null if the body has no valid email. */
  readonly email: string | null;
}

/**
 * Returns whether a person has sent a request, according to a token.
 *
 * @param token the header `Latchkey-Human`, or the field `human_token` of a form. Null if the request has neither
 */
export interface HumanVerifier {
  (token: string | null, facts: HumanCheckFacts): boolean | Promise<boolean>;
  /** What latchkey's own checks add. @internal */
  readonly builtIn?: BuiltInCheck;
}

/** The part of a check of latchkey's own that is not its `verify`. */
export interface BuiltInCheck {
  readonly name: 'altcha' | 'turnstile' | 'hcaptcha';
  /** The key of the app's site at the service. Absent without a service. */
  readonly siteKey?: string;
  /** Creates the issuer of challenges that latchkey signs itself. Absent if a service issues them. */
  issuer?(secrets: readonly string[]): ChallengeIssuer;
}

/** Issues challenges, and verifies their solutions. */
export interface ChallengeIssuer {
  /** Creates a challenge. @param now the milliseconds since 1970 */
  issue(now: number): object;
  /**
   * Verifies a solution.
   *
   * @returns what identifies its challenge, because one solution can be written in many ways. Null if it is wrong
   */
  verify(token: string, now: number): Promise<string | null>;
}

/** Options that every human check has. */
export interface HumanCheckCommonOptions {
  /**
   * The routes that ask for a human. It replaces the default.
   * @default ['signup/credential', 'signin/email', 'passwords/request-reset', 'oauth/token'], as far as they exist
   */
  routes?: readonly HumanCheckRoute[];
  /**
   * Whether requests are refused with 503 `unavailable` or accepted if the check itself fails: if `verify` throws, returns
   * something other than a boolean or takes longer than 2 seconds, or if the store of the rate limits does not respond.
   * @default 'refuse'
   */
  onFailure?: 'refuse' | 'accept';
}

/** How latchkey checks that a person sends a request, before it creates an account or sends an email. */
export interface HumanCheckOptions extends HumanCheckCommonOptions {
  /**
   * Returns whether a person has sent a request. `altcha()`, `turnstile()` and `hcaptcha()` from `latchkey/human-check`
   * have a `verify` of their own.
   * @default none, required
   */
  verify: HumanVerifier;
}

/** The schemas of {@link HumanCheckCommonOptions}. @internal */
export const commonShape = {
  routes: z
    .array(z.enum(ROUTES, { error: `must be one of ${ROUTES.join(', ')}` }), 'must be a list of routes')
    .min(1, 'must name at least one route: to disable the check, leave humanCheck out')
    .optional(),
  onFailure: z.enum(['refuse', 'accept'], "must be 'refuse' or 'accept'").default('refuse'),
};

/** @internal */
export const humanCheckSchema = schemaOf<HumanCheckOptions>()({
  verify: z.custom<HumanVerifier>(
    (it) => typeof it === 'function',
    'must be a function of a token and a request: or set humanCheck to altcha() from latchkey/human-check',
  ),
  ...commonShape,
});
