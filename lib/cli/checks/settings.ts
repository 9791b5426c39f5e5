import { isLoopback } from '../../config/options.js';
import type { Settings } from '../../config/settings.js';
import { type Finding, ok, problem, warning } from './finding.js';

/** Checks what the config says, as the environment of this process has it. */
export function* checkSettings(settings: Settings): Generator<Finding> {
  const isProduction = process.env.NODE_ENV === 'production';
  yield checkBaseUrl(settings);
  if (!isProduction && isPublic(settings))
    yield warning(
      'environment',
      `NODE_ENV is ${process.env.NODE_ENV ?? 'not set'} here, while baseUrl is that of a public host`,
      'run this command with NODE_ENV=production, and with the variables of your production, or with --env-file',
    );
  yield checkCookie(settings);
  yield settings.rateLimit
    ? ok('limits', `on, counted in ${settings.rateLimit.store ? 'Redis' : 'the database'}`)
    : warning(
        'limits',
        'rateLimit is false: passwords can be tried without end',
        'leave rateLimit out of the config',
      );
  yield settings.email
    ? ok('email', 'on')
    : warning(
        'email',
        'off: users cannot reset a password, and are not told what happens to their accounts',
        'set email: { send } in the config',
      );
}

function checkBaseUrl({ baseUrl }: Settings): Finding {
  if (!baseUrl)
    return warning(
      'baseUrl',
      'not set: links in emails are relative, and the origin of requests is compared with their Host alone',
      "set baseUrl to the public origin, such as 'https://app.example.com'",
    );
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === 'http:' && !isLoopback(hostname))
    return problem(
      'baseUrl',
      `${baseUrl} is not https: passwords and session tokens are sent in the clear`,
      'serve the app by https, and set baseUrl to its https origin',
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
      `${name} is Secure although baseUrl is http: browsers drop it, and nobody stays signed in`,
      'serve the app by https; or, to try it out, leave session.cookie.secure out and NODE_ENV other than production',
    );
  if (sameSite === 'none')
    return warning(
      'cookie',
      `${name} has sameSite 'none': requests that other sites make carry it, and only the check of their origin protects you`,
      "set session.cookie.sameSite to 'lax', unless your pages are shown within those of another site",
    );
  if (domain !== undefined)
    return warning(
      'cookie',
      `${name} has the domain ${domain}: every subdomain gets it, and can set one of its own`,
      'leave session.cookie.domain out, unless several subdomains share their sessions',
    );
  return ok('cookie', `${name}, ${secure ? 'Secure, ' : ''}SameSite=${sameSite}`);
}

/** Whether the app is meant to be reached from other machines. */
export function isPublic({ baseUrl }: Pick<Settings, 'baseUrl'>): boolean {
  return baseUrl !== null && !isLoopback(new URL(baseUrl).hostname);
}
