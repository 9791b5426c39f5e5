import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

/** The client that the provider knows. */
export const CLIENT = { clientId: 'app', clientSecret: 'the secret of the client' };

/**
 * Starts an OpenID provider at 127.0.0.1 that asks for an email, and leads back over another host, 127.0.0.2, as many
 * providers do.
 */
export async function startProvider() {
  const { privateKey, publicKey } = await generateKeyPair('RS256');
  const key = { ...(await exportJWK(publicKey)), kid: 'of-this-run', alg: 'RS256', use: 'sig' };
  const granted = new Map<string, { email: string; nonce: string | null }>();

  const answer: RequestListener = async (req, res) => {
    const { pathname, searchParams } = new URL(req.url ?? '', issuer);
    const json = (body: object) =>
      res.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));
    const leadTo = (url: URL) => res.writeHead(303, { Location: url.href }).end();
    switch (pathname) {
      case '/.well-known/openid-configuration':
        return json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        });
      case '/keys':
        return json({ keys: [key] });
      case '/authorize':
        return res
          .setHeader('Content-Type', 'text/html; charset=utf-8')
          .end(
            `<!doctype html><html lang="en"><title>Provider</title><h1>Provider</h1><form method="post" action="/granted?${searchParams.toString().replaceAll('&', '&amp;')}"><label>Email at the provider <input name="email"></label><button>Agree</button></form></html>`,
          );
      case '/granted': {
        const email = new URLSearchParams(await textOf(req)).get('email') ?? '';
        const code = randomUUID();
        granted.set(code, { email, nonce: searchParams.get('nonce') });
        const back = new URL(searchParams.get('redirect_uri') ?? '');
        back.searchParams.set('code', code);
        back.searchParams.set('state', searchParams.get('state') ?? '');
        const over = new URL('/over', other);
        over.searchParams.set('to', back.href);
        return leadTo(over);
      }
      case '/over':
        return leadTo(new URL(searchParams.get('to') ?? ''));
      case '/token': {
        const code = new URLSearchParams(await textOf(req)).get('code') ?? '';
        const { email, nonce } = granted.get(code) ?? { email: '', nonce: null };
        granted.delete(code);
        const token = await new SignJWT({ email, email_verified: true, ...(nonce !== null && { nonce }) })
          .setProtectedHeader({ alg: 'RS256', kid: key.kid })
          .setIssuer(issuer)
          .setSubject(email)
          .setAudience(CLIENT.clientId)
          .setIssuedAt()
          .setExpirationTime('5 minutes')
          .sign(privateKey);
        return json({ access_token: code, token_type: 'Bearer', expires_in: 300, id_token: token });
      }
      default:
        return res.writeHead(404).end();
    }
  };
  const servers = [await listen('127.0.0.1', answer), await listen('127.0.0.2', answer)] as const;
  const [issuer, other] = servers.map(originOf) as [string, string];
  return {
    issuer,
    stop() {
      for (const server of servers) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}

/** Starts a server on a free port of a host. */
export async function listen(host: string, answer: RequestListener): Promise<Server> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, host, listening));
  return server;
}

export function originOf(server: Server): string {
  const { address, port } = server.address() as AddressInfo;
  return `http://${address}:${port}`;
}

async function textOf(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req) text += chunk;
  return text;
}
