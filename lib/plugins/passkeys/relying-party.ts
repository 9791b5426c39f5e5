import { isIP } from 'node:net';
import type { Settings } from '../../config/config.js';

/** The app as browsers and authenticators know it (WebAuthn Level 3, 4: Relying Party). */
export interface RelyingParty {
  /** The domain that passkeys are bound to. */
  readonly id: string;
  readonly name: string;
  /** The origins of the app whose pages can use passkeys. */
  readonly origins: readonly string[];
}

const EXAMPLE = 'such as https://app.example.com';
const EXAMPLE_DOMAIN = 'such as example.com';

/** Returns the relying party for the settings. @throws TypeError with the fix, if passkeys cannot work with them */
export function relyingParty(
  { baseUrl, appName, origins, log }: Settings,
  rpId: string | undefined,
  rpName: string | undefined,
): RelyingParty {
  if (baseUrl === null)
    throw new TypeError(
      `latchkey: passkeys: baseUrl is missing: set it to the app's public origin, ${EXAMPLE}`,
    );
  const { hostname, protocol } = new URL(baseUrl);
  if (isAddress(hostname))
    throw new TypeError(
      `latchkey: passkeys: baseUrl has an IP address as its host, and passkeys are bound to a domain: set baseUrl ` +
        `to an origin with a domain, ${EXAMPLE}, or http://localhost with its port in development`,
    );
  const id = rpId ?? hostname;
  if (!isAtOrBelow(hostname, id))
    throw new TypeError(
      `latchkey: passkeys: rpId must be the host of baseUrl, ${hostname}, or a domain above it: browsers reject others`,
    );
  // A domain without a dot, such as `com`, is a public suffix (HTML, 7.5.1.1). Only browsers have the list of longer
  // ones, such as `co.uk`.
  if (id !== hostname && !id.includes('.') && id !== 'localhost')
    throw new TypeError(
      `latchkey: passkeys: rpId must be your own domain, ${EXAMPLE_DOMAIN}: browsers reject a domain that others share`,
    );
  if (protocol === 'http:' && hostname !== 'localhost' && !hostname.endsWith('.localhost'))
    log.warn(
      'config.passkeys_over_http',
      'passkeys: baseUrl is http, but browsers support passkeys only on https and localhost',
      { cause: null },
    );
  const own = [...origins].filter((origin) => isAtOrBelow(new URL(origin).hostname, id));
  return { id, name: rpName ?? appName ?? hostname, origins: own };
}

/** Whether a host is an IP address, as in a URL. */
export function isAddress(hostname: string): boolean {
  return isIP(hostname.replace(/^\[(.*)\]$/, '$1')) !== 0;
}

function isAtOrBelow(hostname: string, domain: string): boolean {
  return hostname === domain || hostname.endsWith(`.${domain}`);
}
