import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { hcaptcha, turnstile } from '../../lib/human-check.js';
import { password, type SpecApp, startApp } from '../support/app.js';

const SECRET = 'the secret of the service';
const SITE = 'the key of the site';
const FACTS = { ip: null, route: 'signup/credential', email: null, request: null as never } as const;

/**
 * A server that behaves like siteverify of Turnstile and hCaptcha, as their documentation says: each token works once.
 */
class Siteverify {
  readonly requests: { type: string | undefined; fields: Record<string, string> }[] = [];
  /** Responds in place of the usual response. */
  broken: ((res: ServerResponse) => void) | null = null;
  readonly #used = new Set<string>();
  readonly #server: Server = createServer((req, res) => void this.#answer(req, res));

  constructor(private readonly words: { readonly used: string; readonly wrong: string }) {}

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/siteverify`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const fields = Object.fromEntries(new URLSearchParams(await text(req)));
    this.requests.push({ type: req.headers['content-type'], fields });
    if (this.broken) return this.broken(res);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify(this.#verdictOn(fields)));
  }

  #verdictOn({ secret, response = '' }: Record<string, string>) {
    const refused = (code: string) => ({ success: false, 'error-codes': [code] });
    if (secret !== SECRET) return refused('invalid-input-secret');
    if (!response.startsWith('token')) return refused(this.words.wrong);
    if (this.#used.has(response)) return refused(this.words.used);
    this.#used.add(response);
    const at = new Date().toISOString();
    return { success: true, 'error-codes': [], challenge_ts: at, hostname: 'app.example.com' };
  }
}

describe.each([
  ['turnstile', turnstile, { used: 'timeout-or-duplicate', wrong: 'invalid-input-response' }],
  ['hcaptcha', hcaptcha, { used: 'already-seen-response', wrong: 'invalid-input-response' }],
] as const)('%s()', (name, check, words) => {
  const service = new Siteverify(words);
  let verifyUrl: string;
  const verdictOn = (token: string) =>
    check({ siteKey: SITE, secret: SECRET, verifyUrl }).verify(token, FACTS);
  let app: SpecApp<readonly [ReturnType<typeof password>]>;
  let other: typeof app;
  beforeAll(async () => {
    verifyUrl = await service.start();
    const start = (secret: string) =>
      startApp({
        plugins: [password()] as const,
        config: { humanCheck: check({ siteKey: SITE, secret, verifyUrl }) },
      });
    app = await start(SECRET);
    other = await start('another secret');
  });
  afterAll(async () => {
    await app.stop();
    await other.stop();
    await service.stop();
  });
  beforeEach(() => {
    service.broken = null;
    service.requests.length = 0;
  });

  let count = 0;
  const post = (token?: string, { http } = app) => {
    const request = http.post('/auth/signup/credential');
    const body = { email: `new${count++}@example.com`, password: 'an analytical engine' };
    return (token === undefined ? request : request.set('latchkey-human', token)).send(body);
  };

  test('accepts a token once', async () => {
    await post('token 1').expect(201);
    await post('token 1').expect(403);
    await post('wrong').expect(403);
    expect(service.requests[0]).toEqual({
      type: 'application/x-www-form-urlencoded;charset=UTF-8',
      fields: { secret: SECRET, response: 'token 1', sitekey: SITE },
    });
  });

  test('asks the service about no token that cannot be right', async () => {
    await post().expect(403);
    await post('').expect(403);
    await post(`token ${'x'.repeat(name === 'turnstile' ? 2048 : 8192)}`).expect(403);
    for (const wrong of ['token\u00e9', 'token\u00a0', 'token\tx'])
      expect(await verdictOn(wrong)).toBe(false);
    expect(service.requests).toEqual([]);
  });

  test.each<[string, (res: ServerResponse) => void]>([
    ['does not respond', () => undefined],
    ['is broken', (res) => void res.writeHead(502).end('<h1>Bad gateway</h1>')],
    ['responds with a page', (res) => void res.end('<h1>Hello</h1>')],
    ['redirects', (res) => void res.writeHead(302, { location: 'http://127.0.0.1:1/' }).end()],
    ['responds with too much', (res) => void res.end(`"${'x'.repeat(2 ** 21)}"`)],
    ['closes the connection', (res) => void res.destroy()],
    ['does not say whether it succeeded', (res) => void res.end('{"success":"true"}')],
    ['has a fault of its own', (res) => void res.end('{"success":false,"error-codes":["internal-error"]}')],
  ])('responds 503 if the service %s', async (_name, broken) => {
    service.broken = broken;
    const { headers } = await post('token 2').expect(503);
    expect(headers['retry-after']).toBe('5');
  });

  test('responds 403, not 503, to a token that the service refuses in another way', async () => {
    service.broken = (res) => void res.writeHead(400).end('{"success":false,"error-codes":["bad-request"]}');
    await post('token 3').expect(403);
  });

  test.each([400, 403, 413, 429])(
    'responds 403, not 503, to a token that the service refuses with %i and without a verdict',
    async (status) => {
      service.broken = (res) => void res.writeHead(status).end('<h1>Bad request</h1>');
      await post('token 3').expect(403);
    },
  );

  test('reports a wrong secret as a failure', async () => {
    await post('token 4', other).expect(503);
    expect((await other.auth.health()).degraded).toEqual(['human_check']);
    expect(other.log.join('\n')).toContain(`${name} responded with invalid-input-secret`);
    expect(other.log.join('\n')).not.toMatch(/another secret|token 4/);
  });

  test('checks its options', () => {
    const wrong = (options: object) => () => check({ siteKey: SITE, secret: SECRET, ...options });
    expect(wrong({ secret: undefined })).toThrow(`latchkey: ${name}: secret is missing`);
    expect(wrong({ verifyUrl: 'http://example.com' })).toThrow('verifyUrl must be an https URL');
    expect(wrong({ sitekey: SITE })).toThrow('did you mean siteKey');
  });
});
