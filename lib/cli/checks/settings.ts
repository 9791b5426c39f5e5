import { BlockList, isIPv6 } from 'node:net';
import type { Settings } from '../../config/config.js';
import { DEFAULT_ROUTES } from '../../config/human-check.js';
import { isLoopback } from '../../config/options.js';
import { isOfThisHost } from '../../config/session.js';
import { clientAddress, isAddress } from '../../context/address.js';
import type { Core } from '../../core/core.js';
import { type Finding, ok, problem, skipped, warning } from './finding.js';

const RECENT = 100;
/** Fewer sessions are not enough to draw a conclusion. */
const ENOUGH = 10;

const FIX =
  "call app.set('trust proxy', 1) for one proxy in front of the app, or pass the list of your proxies' addresses: see the guide on deployment";

/** Addresses that clients on the Internet cannot have. */
const inside = new BlockList();
for (const [network, bits] of [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
] as const)
  inside.addSubnet(network, bits, 'ipv4');
for (const [network, bits] of [
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
] as const)
  inside.addSubnet(network, bits, 'ipv6');

/**
 * Checks whether the app knows the addresses of its clients, because rate limits depend on them. It uses the app's
 * setting and the addresses of recent sessions.
 */
export async function checkProxy(core: Core, app: unknown): Promise<Finding> {
  const setting = trustOf(app);
  if (setting === true)
    return problem(
      'proxy',
      "'trust proxy' is true: clients can choose their own address with X-Forwarded-For, and evade every limit per address",
      FIX,
    );
  const addresses = await recentAddresses(core);
  if (isPublic(core.settings) && addresses.length >= ENOUGH && addresses.every(isInside))
    return problem(
      'proxy',
      `the last ${addresses.length} sessions came from ${[...new Set(addresses)].slice(0, 3).join(', ')}: this is your proxy, so all clients share one rate limit`,
      FIX,
    );
  if (setting === undefined)
    return addresses.length >= ENOUGH
      ? ok('proxy', 'recent sessions have the addresses of their clients')
      : skipped(
          'proxy',
          'there are too few sessions to check the proxy: in the config, export the Express app as app, in addition to auth',
        );
  if (setting === false && isPublic(core.settings))
    return warning(
      'proxy',
      "'trust proxy' is disabled: behind a proxy, all clients would share one address and one rate limit",
      `${FIX}. If Node itself serves https, this setting is correct`,
    );
  return ok('proxy', `'trust proxy' is ${JSON.stringify(setting) ?? 'a function'}`);
}

/** Returns the `trust proxy` setting of an Express app. Undefined if it is not known. */
function trustOf(app: unknown): unknown {
  const { get } = (app ?? {}) as { get?: (name: string) => unknown };
  return typeof get === 'function' ? (get.call(app, 'trust proxy') ?? false) : undefined;
}

async function recentAddresses({ database }: Core): Promise<string[]> {
  const rows = await database.select<{ ip_address: string | null }>(
    `SELECT ip_address FROM ${database.table('sessions')} ORDER BY id DESC LIMIT ${RECENT}`,
  );
  return rows.flatMap(({ ip_address }) => [clientAddress(ip_address ?? '')].filter(isAddress));
}

function isInside(address: string): boolean {
  return inside.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** Checks the config, with the environment of this process. */
export function* checkSettings(settings: Settings): Generator<Finding> {
  const isProduction = process.env.NODE_ENV === 'production';
  yield checkBaseUrl(settings);
  if (!isProduction && isPublic(settings))
    yield warning(
      'environment',
      `NODE_ENV is ${process.env.NODE_ENV ?? 'not set'} here, but baseUrl is the URL of a public host`,
      'run this command with NODE_ENV=production and the other environment variables of production, or pass --env-file',
    );
  yield checkCookie(settings);
  yield settings.rateLimit
    ? ok('limits', `enabled, counted in ${settings.rateLimit.store ? 'Redis' : 'the database'}`)
    : warning(
        'limits',
        'rateLimit is false: attackers can try passwords without limit',
        'leave rateLimit out of the config',
      );
  if (settings.humanCheck) yield checkHuman(settings);
  yield settings.email
    ? ok('email', 'enabled')
    : warning(
        'email',
        'not configured: users cannot reset a password, and get no notices about their accounts',
        'set email: { send } in the config',
      );
}

function checkHuman({ humanCheck, baseUrl }: Settings): Finding {
  const check = 'human check';
  const { verify, onFailure = 'refuse', routes = DEFAULT_ROUTES } = humanCheck ?? {};
  const name = verify?.builtIn?.name;
  // Browsers offer the functions that solve a challenge only there.
  if (name === 'altcha' && baseUrl?.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname))
    return problem(
      check,
      `altcha() needs https: over ${baseUrl}, browsers cannot solve its challenges`,
      'serve the app over https, and set baseUrl to its https origin',
    );
  const failing = onFailure === 'accept' ? '; requests are accepted while it fails' : '';
  return ok(check, `${name ?? 'your own'}, for ${routes.join(', ')}${failing}`);
}

function checkBaseUrl({ baseUrl }: Settings): Finding {
  if (!baseUrl)
    return warning(
      'baseUrl',
      'not set: links in emails are relative, and the Origin of a request is compared only with its Host',
      "set baseUrl to the public origin, such as 'https://app.example.com'",
    );
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'http:' && !isLoopback(hostname))
    return problem(
      'baseUrl',
      `${baseUrl} is not https: passwords and session tokens are sent in the clear`,
      'serve the app over https, and set baseUrl to its https origin',
    );
  return ok('baseUrl', baseUrl);
}

function checkCookie({ cookie, baseUrl }: Settings): Finding {
  const { name, secure, domain, sameSite } = cookie;
  if (!secure && baseUrl?.startsWith('https:'))
    return problem(
      'cookie',
      `${name} is not Secure although baseUrl is https: browsers send it over plain http too`,
      'leave session.cookie.secure out of the config',
    );
  if (secure && baseUrl?.startsWith('http:'))
    return problem(
      'cookie',
      `${name} is Secure although baseUrl is http: browsers reject it, and no user stays signed in`,
      'serve the app over https; or, to try it out, leave session.cookie.secure out of the config and do not set NODE_ENV to production',
    );
  if (sameSite === 'none')
    return warning(
      'cookie',
      `${name} has sameSite 'none': requests from other sites include it, and only the check of the Origin protects your users`,
      "set session.cookie.sameSite to 'lax', unless other sites show your pages in a frame",
    );
  if (domain !== undefined)
    return warning(
      'cookie',
      `${name} has the domain ${domain}: every subdomain gets it, and can set a cookie with this name`,
      'leave session.cookie.domain out of the config, unless several subdomains share their sessions',
    );
  if (secure && !isOfThisHost(cookie))
    return warning(
      'cookie',
      `${name} does not start with __Host-: every subdomain can set a cookie with this name`,
      'leave session.cookie.name and session.cookie.path out of the config, or start the name with __Host-',
    );
  return ok('cookie', `${name}, ${secure ? 'Secure, ' : ''}SameSite=${sameSite}`);
}

/** Whether `baseUrl` is meant for clients on other machines. */
export function isPublic({ baseUrl }: Pick<Settings, 'baseUrl'>): boolean {
  return baseUrl !== null && !isLoopback(new URL(baseUrl).hostname);
}
