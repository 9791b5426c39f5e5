import { randomText } from './data.js';

export const PORT = Number(process.env.PORT ?? 3000);
export const PROVIDER_PORT = Number(process.env.PROVIDER_PORT ?? PORT + 1);

/** What browsers call the app. Cookies, mails and the redirect URIs at providers all belong to this one name. */
export const ORIGIN = `http://localhost:${PORT}`;

/**
 * What the app and the provider that runs beside it know of each other. Another name than the app's, though the same
 * machine: browsers do not tell ports apart when they send cookies.
 */
export const DEMO_PROVIDER = {
  id: 'demo',
  issuer: `http://127.0.0.1:${PROVIDER_PORT}`,
  clientId: 'latchkey-demo',
  clientSecret: randomText(),
};
