// Draws which files of lib a request goes through, from requests to an app that really runs, into contributing/architecture.md.
// Prints how often each file is entered from another one: a file that is entered twice is a detour, or two subjects.
//
//   npm run docs:walks                updates the page
//   npm run docs:walks -- --json      prints the page as it should be and the walks, and writes nothing
import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync, writeFileSync } from 'node:fs';
import { register } from 'node:module';
import { posix } from 'node:path';

const page = new URL('../contributing/architecture.md', import.meta.url);
const written = readFileSync(page, 'utf8');

// Every file may use these rooms, so the pictures show of them only that the database is asked.
const LEFT_OUT = new Set([
  'errors',
  'logger',
  'owners',
  'process-wide',
  'context',
  'crypto',
  'tables',
  'timers',
]);
const AS_ONE = new Set(['database']);

const TITLES = {
  guarded: 'A cookie on a guarded route',
  signIn: 'POST /signin/credential',
  callback: 'GET /oauth/:provider/callback',
};
const LONGEST_MS = 60_000;

const imported = new Map();

/** The call that runs now. AsyncLocalStorage keeps it across awaits. */
const current = new AsyncLocalStorage();

/** Each function of lib calls this when it is entered: see walks-hook.mjs. */
globalThis.entered = (file, name, work) => {
  const caller = current.getStore();
  // Only requests that are traced have a caller, and not what goes on beside them.
  if (!caller || caller.walk.isOver) return work();
  const { walk } = caller;
  const call = { walk, file, name, calls: [] };
  caller.calls.push(call);
  const outcome = current.run(call, work);
  if (outcome instanceof Promise) {
    const end = () => walk.unfinished--;
    walk.unfinished++;
    outcome.then(end, end);
  }
  return outcome;
};

process.env.LATCHKEY_SPEC_DATABASE = 'sqlite';
register('./walks-hook.mjs', import.meta.url);

const walks = await walkAll();
const [before, , after] = written.split(/(?<=<!-- walks -->\n)([\s\S]*)(?=<!-- \/walks -->)/);
if (after === undefined) throw new Error('contributing/architecture.md does not say where the pictures are');
const drawn = `${before}\n${Object.keys(TITLES).map(section).join('')}${after}`;
if (process.argv.includes('--json')) {
  const entered = Object.keys(TITLES).map((key) => ({ title: TITLES[key], entries: entriesOf(walks[key]) }));
  console.log(JSON.stringify({ page: drawn, walks: entered }));
} else {
  writeFileSync(page, drawn);
  for (const key of Object.keys(TITLES)) report(TITLES[key], entriesOf(walks[key]));
}

/** Sends each kind of request twice. The first time, lib may load and prepare something; the second time is traced. */
async function walkAll() {
  const { begin, pathOf, startWithOidc } = await import('../spec/support/oauth-app.ts');
  const { visitProvider } = await import('../spec/support/oidc.ts');
  const { authRouter, requireSession } = await import('../lib/index.ts');

  let awaited = null;
  const { app, provider } = await startWithOidc({
    config: { rateLimit: {} },
    mount(express, auth) {
      express.use((_req, _res, next) => {
        const walk = awaited;
        awaited = null;
        if (walk) current.run(walk, next);
        else next();
      });
      express.use('/auth', authRouter(auth));
      express.get('/reports', requireSession(auth), (_req, res) => res.json({}));
    },
  });

  async function walk(request, status) {
    const walk = { calls: [], unfinished: 0, isOver: false };
    walk.walk = walk;
    awaited = walk;
    await request().expect(status);
    const start = performance.now();
    // What goes on after the response belongs to the request, and a busy machine may take its time.
    while (walk.unfinished > 0 && performance.now() - start < LONGEST_MS)
      await new Promise((resolve) => setTimeout(resolve, 10));
    if (walk.unfinished > 0) throw new Error(`a request has not ended after ${LONGEST_MS} ms`);
    walk.isOver = true;
    return walk;
  }

  const person = { email: 'eve@example.com', password: 'a password of the walks' };
  const credentials = { credential: person.email, password: person.password };
  async function round() {
    // A browser without cookies, as after the end of a session.
    const browser = app.browser();
    const signIn = await walk(() => browser.post('/auth/signin/credential').send(credentials), 200);
    const guarded = await walk(() => browser.get('/reports'), 200);
    const other = app.browser();
    const atProvider = await begin(other, '/auth/oauth/oidc/authorize', { callback_url: '/' });
    const returning = pathOf(await visitProvider(atProvider));
    return { guarded, signIn, callback: await walk(() => other.get(returning), 303) };
  }
  try {
    await app.auth.credential.signUp(person);
    await round();
    return await round();
  } finally {
    await app.stop();
    await provider.stop();
  }
}

/**
 * The calls from one file into another. They are in the order of the call tree, so what runs at the same time cannot
 * change it.
 *
 * @param partOf what counts as one file, by the path of a file; null for none
 */
function entriesOf(walk, partOf = (file) => file) {
  const entries = [];
  const visit = ({ calls }, chain, depth) => {
    for (const { file, name, calls: inner } of calls) {
      const part = partOf(file);
      const by = chain.at(-1);
      if (part !== null && part !== by?.part) {
        // Imports are never circular, so a file can call one that it does not import only if that passes a function in.
        const isPassedIn = by !== undefined && !importedBy(by.file).has(file);
        const isCallback = isPassedIn && chain.some((one) => one.part === part);
        const caller = by ? { file: by.part, name: by.name } : null;
        entries.push({ file: part, name, by: caller, isPassedIn, isCallback, depth });
      }
      visit({ calls: inner }, part === null ? chain : [...chain, { part, file, name }], depth + 1);
    }
  };
  visit(walk, [], 0);
  return entries;
}

/** The files that a file imports, and those that they import, types included. */
function importedBy(file) {
  const known = imported.get(file);
  if (known) return known;
  const source = readFileSync(new URL(`../lib/${file}.ts`, import.meta.url), 'utf8');
  const direct = [...source.matchAll(/(?:from |import\()'(\.[^']+)\.js'/g)].map(([, path]) =>
    posix.join(posix.dirname(file), path),
  );
  const all = new Set(direct.flatMap((one) => [one, ...importedBy(one)]));
  imported.set(file, all);
  return all;
}

function section(key) {
  return `**${TITLES[key]}**\n\n\`\`\`mermaid\n${picture(walks[key])}\`\`\`\n\n`;
}

/** A node for each file in the order of its first entry, and an arrow from each file that enters it. */
function picture(walk) {
  const entries = entriesOf(walk, (file) => {
    const [room] = file.split('/');
    if (LEFT_OUT.has(room)) return null;
    return AS_ONE.has(room) ? room : file;
  }).filter(({ isCallback }) => !isCallback);
  const files = [...new Set(entries.map(({ file }) => file))];
  const idOf = (file) => `n${files.indexOf(file) + 1}`;
  const nodes = files.map((file, index) => {
    const label = `"${index + 1} ${file}"`;
    return idOf(file) + (AS_ONE.has(file) ? `[(${label})]` : `[${label}]`);
  });
  const entered = new Set();
  const arrows = new Set();
  for (const { file, by, isPassedIn } of entries) {
    const arrow = by && `${idOf(by.file)} ${isPassedIn ? '-->|passed in|' : '-->'} ${idOf(file)}`;
    if (!arrow || arrows.has(arrow)) continue;
    arrows.add(entered.has(file) ? arrow.replace('-->', '-.->') : arrow);
    entered.add(file);
  }
  return ['flowchart LR', ...[...nodes, ...arrows].map((line) => `  ${line}`), ''].join('\n');
}

/** Prints how often each file was entered, and by whom if that was more than once. */
function report(title, entries) {
  console.log(`\n${title}\nentered  called back`);
  for (const file of new Set(entries.map((entry) => entry.file))) {
    const ofFile = entries.filter((entry) => entry.file === file);
    const entered = ofFile.filter(({ isCallback }) => !isCallback);
    const callbacks = ofFile.length - entered.length;
    console.log(`${String(entered.length).padStart(7)}  ${String(callbacks).padStart(11)}  ${file}`);
    if (entered.length < 2) continue;
    const calls = entered.map(({ name, by }) => `${by ? `${by.file} ${by.name}` : 'Express'} → ${name}`);
    for (const call of new Set(calls)) {
      const times = calls.filter((one) => one === call).length;
      console.log(`${' '.repeat(24)}${call}${times > 1 ? ` × ${times}` : ''}`);
    }
  }
}
