import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** Whether a secret has the form of Standard Webhooks: `whsec_`, then 24 to 64 bytes in base64. */
export function isWebhookSecret(secret: string): boolean {
  const body = secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : '';
  const bytes = Buffer.from(body, 'base64');
  return bytes.toString('base64') === body && bytes.length >= 24 && bytes.length <= 64;
}

/**
 * Signs a webhook with each of the secrets, as Standard Webhooks 1.0 requires: https://www.standardwebhooks.com.
 *
 * @param timestamp in seconds
 * @returns the value of `webhook-signature`
 */
export function signWebhook(secrets: readonly string[], id: string, timestamp: number, body: string): string {
  return secrets
    .map((secret) => {
      const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
      return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
    })
    .join(' ');
}
