import * as z from 'zod';
import { isAddress } from './relying-party.js';

/** Options of {@link passkeys}. */
export interface PasskeysOptions {
  /**
   * The domain that passkeys are bound to (the Relying Party ID of WebAuthn Level 3): the host of `baseUrl`, or a domain
   * above it, whose other subdomains can use the passkeys too if they are `trustedOrigins`. If it changes, nobody's passkey
   * works any more.
   * @default the host of `baseUrl`
   */
  rpId?: string;
  /** The name of the app that browsers and authenticators show: 1 to 64 characters. @default the host of `baseUrl` */
  rpName?: string;
}

const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
const NOT_A_DOMAIN = 'must be a domain in lower case such as example.com, without scheme and port';

/** @internal */
export const optionsSchema = () =>
  z.strictObject({
    rpId: z
      .string(NOT_A_DOMAIN)
      .regex(DOMAIN, NOT_A_DOMAIN)
      .refine(
        (id) => !isAddress(id),
        'must be a domain such as example.com: passkeys cannot be bound to an IP address',
      )
      .optional(),
    rpName: z
      .string('must be the name of the app')
      .regex(/^\S(.{0,62}\S)?$/u, 'must be a name of 1 to 64 characters')
      .optional(),
  });
