import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { dictionary } from '@zxcvbn-ts/language-common';
import { isCommonPassword } from '../lib/users/common-passwords.js';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path: string) => readFile(root + path, 'utf8');
const page = await read('contributing/asvs.md');
const sources = new Map<string, string>();
for (const path of await readdir(`${root}lib`, { recursive: true }))
  if (path.endsWith('.ts')) sources.set(`lib/${path}`, code(await read(`lib/${path}`)));

/** How many requirements each section of ASVS 5.0.0 has, of the chapters on the page. */
const SECTIONS: Record<string, number[]> = {
  2: [3, 3, 5, 2],
  3: [1, 3, 5, 8, 8, 1, 5],
  6: [3, 12, 8, 6, 8, 4, 2, 4],
  7: [3, 4, 2, 5, 3, 2],
  8: [4, 4, 3, 2],
  10: [2, 3, 5, 16, 5, 2, 3],
  11: [4, 5, 5, 4, 2, 2, 2],
  14: [2, 8, 3],
  16: [1, 5, 4, 3, 4],
};

interface Row {
  readonly id: string;
  readonly verdict: string;
  readonly how: string;
}

const rows: Row[] = page.split('\n').flatMap((line) => {
  const [, id, , , verdict, how] = line.split('|').map((cell) => cell.trim());
  return /^\d+\.\d+\.\d+$/.test(id ?? '') ? [{ id, verdict, how } as Row] : [];
});
const section = (name: string) => page.split(/^## /m).find((text) => text.startsWith(`${name}\n`)) ?? '';

/** A source without its comments. */
function code(source: string): string {
  return source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '');
}

describe('contributing/asvs.md', () => {
  test('lists each requirement of its chapters once, and in order', () => {
    const ids = Object.entries(SECTIONS).flatMap(([chapter, sizes]) =>
      sizes.flatMap((size, at) => Array.from({ length: size }, (_, n) => `${chapter}.${at + 1}.${n + 1}`)),
    );
    expect(rows.map(({ id }) => id)).toEqual(ids);
  });

  test('has a verdict and a reason for each', () => {
    const verdicts = /^(met|your app|not met|does not apply)$/;
    expect(rows.filter(({ verdict, how }) => !verdicts.test(verdict) || how.length < 5)).toEqual([]);
  });

  test('names a test for each that is met, which exists', async () => {
    const wrong: string[] = [];
    for (const { id, verdict, how } of rows) {
      const named = [...how.matchAll(/\[([\w/.-]+)\]\(\.\.\/(spec\/[\w/.-]+)\) “(.*?)”/g)];
      if (verdict === 'met' && named.length === 0) wrong.push(`${id} names no test`);
      for (const [, name, path = '', title = ''] of named) {
        if (path.split('.')[0] !== `spec/${name}`) wrong.push(`${id}: ${name} leads to ${path}`);
        const text = await read(path).catch(() => '');
        if (!text.includes(title)) wrong.push(`${id}: ${path} has no “${title}”`);
      }
    }
    expect(wrong).toEqual([]);
  });

  test('names files that exist', () => {
    const files = rows.flatMap(({ how }) =>
      [...how.matchAll(/`([\w/.-]+\.ts)`/g)].map(([, file = '']) => file),
    );
    expect(files.filter((file) => !existsSync(root + file))).toEqual([]);
    expect(files.length).toBeGreaterThan(50);
  });
});

describe('cryptography', () => {
  const LIBRARY =
    /^import (?!type).*from 'node:crypto'|\bimport\('(node:crypto|bcrypt|@node-rs\/argon2|openid-client|jose|@simplewebauthn\/server|otpauth)'\)/m;

  test('the inventory names every file that does cryptography, and no other', () => {
    const listed = section('Cryptography').match(/`lib\/[\w/.-]+\.ts`/g) ?? [];
    const files = [...sources].filter(([, source]) => LIBRARY.test(source)).map(([path]) => `\`${path}\``);
    expect(listed.sort()).toEqual(files.sort());
  });

  test('the only cipher is AES-256-GCM', () => {
    const isImporter = (path: string) => path.startsWith('lib/moving-in/systems/');
    expect([...sources.keys()].filter(isImporter)).not.toEqual([]);
    const ciphers = [...sources]
      // Importers read what other systems have encrypted.
      .filter(([path]) => !isImporter(path))
      .filter(([, source]) => /\bcreate(Cipher|Decipher)/.test(source));
    expect(ciphers.map(([path]) => path)).toEqual(['lib/crypto/secret-box.ts']);
    expect(ciphers[0]?.[1]).toContain("const ALGORITHM = 'aes-256-gcm'");
    expect(ciphers[0]?.[1].match(/create(Cipher|Decipher)iv\((?!ALGORITHM)/g)).toBeNull();
  });

  test('nothing but a pause comes from Math.random', () => {
    const lines = [...sources.values()].flatMap((source) => source.match(/.*Math\.random.*/g) ?? []);
    expect(lines).not.toEqual([]);
    expect(lines.filter((line) => !/setTimeout|pause|sleep/.test(line))).toEqual([]);
  });
});

test('the classes of data name every table, and no other', () => {
  const declared = [...sources.values()].flatMap((source) =>
    [...source.matchAll(/(?:declareTable|defineWaiting)\(\{\s*name: '(\w+)'/g)].map(([, name = '']) => name),
  );
  expect(declared.length).toBeGreaterThan(15);
  const [, ...lines] = section('Data').match(/^\| .*/gm) ?? [];
  const listed = new Set(lines.flatMap((line) => line.split('|')[2]?.match(/\w+(?=`)/g) ?? []));
  expect([...listed].sort()).toEqual([...declared].sort());
});

test('only what you configure is sent requests', () => {
  const sends =
    /(?<![\w.#])fetch\(|^import (?!type)[^;]*\b(request|get|connect|createConnection)\b[^;]*'node:(https?|http2|net|tls)'/m;
  const senders = [...sources].filter(([, source]) => sends.test(source)).map(([path]) => path);
  // The command line requests the app that it has loaded, on loopback, and the client is for browsers and phones.
  const elsewhere = ['lib/cli/express/probe.ts', 'lib/client/transport.ts'];
  // By the first to providers and to the keys of `jwtSessions`, and to webhooks. Databases, Redis and mail are reached by packages, with what the
  // config says.
  expect(senders.filter((path) => !elsewhere.includes(path)).sort()).toEqual([
    'lib/context/bounded-fetch.ts',
    'lib/outbox/webhooks.ts',
    'lib/plugins/oauth/client.ts',
  ]);
});

test('the 3000 most common passwords with 8 characters or more are refused', async () => {
  const common = dictionary['passwords-common'].filter((one) => [...one].length >= 8).slice(0, 3000);
  expect(common).toHaveLength(3000);
  const accepted: string[] = [];
  for (const one of common) if (!(await isCommonPassword(one))) accepted.push(one);
  expect(accepted).toEqual([]);
});
