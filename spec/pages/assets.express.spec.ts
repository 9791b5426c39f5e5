import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { passkeys } from '../../lib/index.js';
import { password } from '../support/app.js';
import { attribute } from '../support/page-browser.js';
import { type PagesApp, startPagesApp } from '../support/pages-app.js';

const plugins = [password(), passkeys()] as const;
let app: PagesApp<typeof plugins>;
let files: string[];
beforeAll(async () => {
  app = await startPagesApp(plugins);
  const page = await app.open().open('/auth/sign-in');
  files = page.elements
    .filter(({ tagName }) => tagName === 'link' || tagName === 'script')
    .map((one) => attribute(one, 'href') ?? attribute(one, 'src') ?? '');
});
afterAll(() => app.stop());

/** Sends a request, and leaves the body as it is. */
const load = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  new Promise<{ status: number; headers: Record<string, string>; body: Buffer }>((resolve, reject) => {
    const { hostname, port } = new URL(app.origin);
    request({ hostname, port, path, method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers as Record<string, string>,
          body: Buffer.concat(chunks),
        }),
      );
    })
      .on('error', reject)
      .end();
  });

const withHash = (path: string, hash: string) => path.replace(/\.[0-9a-f]{10}\./, `.${hash}.`);
const fileOf = (name: string) => files.find((one) => one.includes(`/${name}.`)) ?? '';

test('pages load files of this origin, with the hash of their content in the name', async () => {
  expect(files.map((one) => one.replace(/\.[0-9a-f]{10}\./, '.#.')).sort()).toEqual([
    '/auth/assets/form.#.js',
    '/auth/assets/icon.#.svg',
    '/auth/assets/passkeys.#.js',
    '/auth/assets/style.#.css',
    '/auth/assets/theme.#.css',
  ]);
  for (const file of files) {
    const { body } = await load(file);
    expect(file).toContain(`.${createHash('sha256').update(body).digest('hex').slice(0, 10)}.`);
  }
});

test('they are kept for a year, and carry what keeps other origins from them', async () => {
  const types = {
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    svg: 'image/svg+xml',
  };
  for (const file of files) {
    const { status, headers } = await load(file);
    expect([status, headers['cache-control']]).toEqual([200, 'public, max-age=31536000, immutable']);
    expect(headers['content-type']).toBe(types[file.split('.').at(-1) as keyof typeof types]);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['cross-origin-resource-policy']).toBe('same-origin');
    expect(headers.vary).toBe('Accept-Encoding');
    expect(headers['set-cookie']).toBeUndefined();
  }
});

test.each([
  ['br', 'br'],
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip', 'gzip'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, gzip', 'gzip'],
  ['identity', undefined],
  ['', undefined],
  ['zstd', undefined],
  ['br;q=0, gzip;q=0', undefined],
])('Accept-Encoding %j gets %s', async (accepted, encoding) => {
  const plain = (await load(fileOf('style'))).body;
  const { headers, body } = await load(
    fileOf('style'),
    accepted === '' ? {} : { 'accept-encoding': accepted },
  );
  expect(headers['content-encoding']).toBe(encoding);
  const decoded =
    encoding === 'br' ? brotliDecompressSync(body) : encoding === 'gzip' ? gunzipSync(body) : body;
  expect(decoded.equals(plain)).toBe(true);
  expect(plain.toString()).toContain('[data-part');
});

test('HEAD has the headers of GET, without a body', async () => {
  for (const file of files) {
    const headers = { 'accept-encoding': 'br' };
    const [get, head] = [await load(file, headers), await load(file, headers, 'HEAD')];
    expect([head.status, head.body.length]).toEqual([200, 0]);
    for (const name of ['etag', 'cache-control', 'content-type', 'content-encoding', 'vary'])
      expect([name, head.headers[name]]).toEqual([name, get.headers[name]]);
  }
});

describe('a file of another version of the app', () => {
  test("gets today's file, which is not kept", async () => {
    for (const file of files) {
      const old = await load(withHash(file, '0123456789'));
      expect([old.status, old.headers['cache-control']]).toEqual([200, 'no-cache']);
      expect(old.body.equals((await load(file)).body)).toBe(true);
    }
  });
});

test.each([
  '/auth/assets/unknown.0123456789.js',
  '/auth/assets/style.0123456789.js',
  '/auth/assets/style.css',
  '/auth/assets/style.012345678.css',
  '/auth/assets/style.0123456789.css.map',
  '/auth/assets/..%2fpages.0123456789.js',
  '/auth/assets/__proto__.0123456789.js',
  '/auth/assets/constructor.0123456789.js',
  '/auth/assets/',
  '/auth/assets',
])('%s is passed on to the app', async (path) => {
  const { status, headers } = await load(path);
  expect([status, headers['cache-control']]).toEqual([404, undefined]);
});

test('a browser that has the file gets 304', async () => {
  for (const encoding of ['br', 'gzip', 'identity']) {
    const first = await load(fileOf('style'), { 'accept-encoding': encoding });
    const etag = first.headers.etag ?? '';
    expect(etag).toMatch(/^"[\w-]+"$/);
    const again = await load(fileOf('style'), { 'accept-encoding': encoding, 'if-none-match': etag });
    expect([again.status, again.body.length, again.headers.etag]).toEqual([304, 0, etag]);
    const other = await load(fileOf('style'), { 'accept-encoding': encoding, 'if-none-match': '"other"' });
    expect(other.status).toBe(200);
  }
  // Each encoding has its own.
  const ofBrotli = (await load(fileOf('style'), { 'accept-encoding': 'br' })).headers.etag ?? '';
  expect((await load(fileOf('style'), { 'accept-encoding': 'gzip', 'if-none-match': ofBrotli })).status).toBe(
    200,
  );
});

test('the built files are up to date', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const { status, stderr } = spawnSync(process.execPath, ['scripts/assets.mjs', '--check'], { cwd: root });
  expect([status, stderr.toString()]).toEqual([0, '']);
});

test('together they are at most 12 KB', async () => {
  let total = 0;
  for (const file of files) total += (await load(file, { 'accept-encoding': 'br' })).body.length;
  expect(total).toBeGreaterThan(2000);
  expect(total).toBeLessThanOrEqual(12 * 1024);
});
