import type { ServerResponse } from 'node:http';

/** Sets the headers of every response of latchkey, whatever it says. */
export function protect(res: ServerResponse): void {
  res.setHeader('Cache-Control', 'no-store');
  res.setHeader('X-Content-Type-Options', 'nosniff');
  // The URL of the OAuth callback contains a code and a state.
  res.setHeader('Referrer-Policy', 'no-referrer');
  // No response is a page, nor a part of one (ASVS 5.0, 3.2.1, 3.4.6 and 3.5.8).
  res.setHeader('Content-Security-Policy', "default-src 'none'; base-uri 'none'; frame-ancestors 'none'");
  res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
}
