import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ada, SECRET } from '../support/app.js';
import { type Example, installExample } from '../support/example.js';

let example: Example;
beforeAll(async () => {
  example = await installExample('observability');
}, 240_000);
afterAll(() => example?.remove());

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface OtlpSpan {
  readonly name: string;
  readonly kind: number;
  readonly spanId: string;
  readonly attributes: readonly Attribute[];
  readonly links?: readonly { readonly spanId: string }[];
}
interface Line {
  readonly resourceSpans?: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
  readonly resourceMetrics?: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
  }[];
}

const SERVER = 2;

/** Runs the app until it ends. @returns what its collector has written */
async function run(file: string) {
  const collector = await example.start('collector.js', { FILE: file });
  const app = await example.start('server.js', {
    AUTH_SECRET: SECRET,
    DATABASE_URL: `sqlite:./${file}.db`,
    NODE_OPTIONS: '--import ./instrumentation.js',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  const post = (path: string, body: object) =>
    fetch(`${app.url}/auth${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      body: JSON.stringify(body),
    });
  expect((await post('/signup/credential', ada)).status).toBe(201);
  const wrong = await post('/signin/credential', { credential: ada.email, password: 'wrong' });
  expect(wrong.status).toBe(401);
  const right = await post('/signin/credential', { credential: ada.email, password: ada.password });
  const [cookie = ''] = right.headers.getSetCookie().map((line) => String(line.split(';')[0]));
  const headers = { cookie, connection: 'close' };
  expect((await fetch(`${app.url}/reports/1`, { headers })).status).toBe(200);
  expect(await app.stop()).toBe(0);
  const written = await readFile(join(example.folder, file), 'utf8');
  const lines = written
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
  const scopes = lines.flatMap(({ resourceMetrics = [] }) =>
    resourceMetrics.flatMap((one) => one.scopeMetrics),
  );
  return {
    written,
    spans: lines.flatMap(({ resourceSpans = [] }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans)),
    ),
    metrics: new Set(scopes.flatMap(({ metrics }) => metrics.map(({ name }) => name))),
  };
}

const routesOf = (spans: readonly OtlpSpan[]) =>
  spans
    .filter(({ kind }) => kind === SERVER)
    .map(({ attributes }) => attributes.find(({ key }) => key === 'http.route')?.value.stringValue);

test('the collector of examples/observability gets the metrics and the spans', async () => {
  const { written, spans, metrics } = await run('with-express.jsonl');
  expect([...metrics].filter((name) => name.startsWith('latchkey.')).sort()).toEqual([
    ...[
      'latchkey.lookup.batch_size',
      'latchkey.lookup.duration',
      'latchkey.outbox.held',
      'latchkey.outbox.waiting',
    ],
    ...['latchkey.password_hash.duration', 'latchkey.password_hash.queue_length', 'latchkey.sign_ins'],
  ]);
  const lookup = spans.find(({ name }) => name === 'latchkey.lookup');
  const linked = spans.find(({ spanId }) => spanId === lookup?.links?.[0]?.spanId);
  expect(linked?.attributes.some(({ value }) => value.stringValue?.includes('/reports/'))).toBe(true);
  expect(routesOf(spans)).toEqual([
    ...['/auth/signup/credential', '/auth/signin/credential', '/auth/signin/credential', '/reports/:id'],
  ]);
  expect(written).not.toMatch(/ada@|engine|lks_/);
}, 120_000);

test('without the instrumentation of Express, latchkey sets the routes that are its own', async () => {
  const path = join(example.folder, 'instrumentation.js');
  const source = await readFile(path, 'utf8');
  await writeFile(path, source.replace(', new ExpressInstrumentation()', ''));
  const { spans } = await run('without-express.jsonl');
  expect(routesOf(spans)).toEqual([
    ...['/auth/signup/credential', '/auth/signin/credential', '/auth/signin/credential', undefined],
  ]);
}, 120_000);
