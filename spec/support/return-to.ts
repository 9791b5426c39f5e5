/** The origin of the app. */
export const BASE = 'http://localhost';

/** A trusted origin. */
export const TRUSTED = 'https://www.example';

/** The app's own pages. */
export const OWN = { 'sign-out': '/bye' };

/**
 * The readings of a path by a proxy or a server: decoded any number of times, without dot segments and empty segments.
 */
function readings(path: string): Set<string> {
  const found = new Set<string>();
  const add = (one: string) => {
    const segments: string[] = [];
    for (const segment of one.replace(/[\\]/g, '/').split(/[?#;]/)[0]!.split('/'))
      if (segment === '..') segments.pop();
      else if (segment !== '.' && segment !== '') segments.push(segment);
    found.add(`/${segments.join('/')}`.toLowerCase());
    // A reader that also counts the part after an encoded mark as the path.
    const all: string[] = [];
    for (const segment of one.replace(/[\\]/g, '/').split('/'))
      if (segment === '..') all.pop();
      else if (segment !== '.' && segment !== '') all.push(segment);
    found.add(`/${all.join('/')}`.toLowerCase());
  };
  for (let decoded = path, time = 0; time < 6; time++) {
    add(decoded);
    try {
      decoded = decodeURIComponent(decoded);
    } catch {
      break;
    }
  }
  return found;
}

/** Returns what is wrong with the location that a user is redirected to. Null if it is right. */
export function faultOf(location: string | null): string | null {
  if (location === null) return 'no location';
  const url = new URL(location, `${BASE}/auth/sign-in/password`);
  if (url.origin === TRUSTED) return null;
  if (url.origin !== BASE) return `leaves the origin: ${location}`;
  if (!/^[!-~]*$/.test(location) || location.includes('\\'))
    return `is not encoded: ${JSON.stringify(location)}`;
  if (location.startsWith('//')) return `starts with //: ${location}`;
  for (const path of readings(url.pathname)) {
    const isAccount = /^\/auth\/(account|administration)(\/|$)/.test(path);
    if ((path === '/auth' || path.startsWith('/auth/')) && !isAccount) return `is a route: ${location}`;
    if (path === OWN['sign-out']) return `signs out: ${location}`;
  }
  return null;
}
