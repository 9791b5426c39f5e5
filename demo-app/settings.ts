import { randomText } from './data.js';

const MAX_PORT = 65_535;

export const PORT = portFrom('PORT', 3000);
export const PROVIDER_PORT = portFrom('PROVIDER_PORT', PORT + 1);

/** The origin of the app in the browser. Cookies, emails and the redirect URIs at providers all depend on it. */
export const ORIGIN = `http://localhost:${PORT}`;

/** The demo creates an account with this email, and it is an administrator. */
export const ADMIN_EMAIL = 'admin@example.com';

/**
 * What the app and the demo provider need to know about each other. The provider uses a different host name than the
 * app, although it runs on the same machine, because browsers send the cookies of a host to all of its ports.
 */
export const DEMO_PROVIDER = {
  id: 'demo-provider',
  issuer: `http://127.0.0.1:${PROVIDER_PORT}`,
  clientId: 'latchkey-demo',
  clientSecret: randomText(),
};

/** A port from the environment. If it is not a port, prints what to do and exits the process. */
function portFrom(variable: string, ifUnset: number): number {
  const text = process.env[variable] || String(ifUnset);
  const port = Number(text);
  if (Number.isInteger(port) && port >= 1 && port <= MAX_PORT) return port;
  console.error(`${variable} must be a whole number from 1 to ${MAX_PORT}, not ${JSON.stringify(text)}.`);
  process.exit(1);
}
