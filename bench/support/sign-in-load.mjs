// The load of the figure of sign-ins, in a process of its own: node sign-in-load.mjs <LoadOptions as JSON>. Some clients
// sign in without pause. Beside them, pages and probes are requested at a fixed rate, whether or not earlier ones have been
// answered. Prints `JSON <SignInLoad>`.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { percentile } from './numbers.mjs';
import { emailOf, USER_AGENT } from './people.mjs';

/**
 * @typedef {object} LoadOptions
 * @property {string} url of the server
 * @property {string} path of the sign-in
 * @property {string} field with the email
 * @property {string} password
 * @property {string} origin of the site
 * @property {number} users
 * @property {number} clients that sign in
 * @property {number} seconds
 * @property {string | null} pages the file with a header line for each page; null for none
 * @property {number} pagesPerSecond
 */

/** @type {LoadOptions} */
const options = JSON.parse(process.argv[2]);
const PROBES_PER_SECOND = 10;
const { hostname, port } = new URL(options.url);
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
const times = { signIns: [], pages: [], fs: [], dns: [], random: [] };
const failed = { signIns: 0, pages: 0 };
let failure = null;

function send(method, path, headers, body) {
  const started = performance.now();
  return new Promise((resolve) => {
    const fail = () => resolve({ status: 0, ms: performance.now() - started, text: '' });
    const sent = request(
      { hostname, port, method, path, agent, headers: { 'user-agent': USER_AGENT, ...headers } },
      (response) => {
        let text = '';
        response.setEncoding('utf8');
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.once('end', () =>
          resolve({ status: response.statusCode, ms: performance.now() - started, text }),
        );
        response.once('error', fail);
      },
    );
    sent.once('error', fail);
    sent.setTimeout(20_000, () => sent.destroy());
    sent.end(body);
  });
}

let next = Math.floor(Math.random() * options.users);
async function signIn() {
  next++;
  const email = emailOf((next % options.users) + 1);
  const body = JSON.stringify({ [options.field]: email, password: options.password });
  const address = `10.${(next >> 16) & 255}.${(next >> 8) & 255}.${next & 255}`;
  const headers = {
    ...{ 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    ...{ origin: options.origin, 'x-forwarded-for': address },
  };
  const { status, ms, text } = await send('POST', options.path, headers, body);
  if (status === 200) return times.signIns.push(ms);
  failed.signIns++;
  failure = `${status} ${text}`;
}

const started = performance.now();
const isOver = () => performance.now() - started >= options.seconds * 1000;
const signIns = Array.from({ length: options.clients }, async () => {
  while (!isOver()) await signIn();
});
await Promise.all([...signIns, ...(options.pages ? [besides(options.pages)] : [])]);
const seconds = (performance.now() - started) / 1000;
agent.destroy();
console.log(
  `JSON ${JSON.stringify({
    signIns: times.signIns.length,
    perSecond: times.signIns.length / seconds,
    failed,
    failure,
    p50OfSignIns: percentile(times.signIns, 0.5),
    pages: times.pages.length,
    p50: percentile(times.pages, 0.5),
    p99: percentile(times.pages, 0.99),
    fs: percentile(times.fs, 0.5),
    dns: percentile(times.dns, 0.5),
    random: percentile(times.random, 0.5),
  })}`,
);

async function besides(file) {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  const sent = [];
  const due = (perSecond) => Math.floor(((performance.now() - started) / 1000) * perSecond);
  let pages = 0;
  let probes = 0;
  while (!isOver()) {
    for (; pages < due(options.pagesPerSecond); pages++) sent.push(page(lines[pages % lines.length]));
    for (; probes < due(PROBES_PER_SECOND); probes++) sent.push(probe());
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await Promise.all(sent);
}

async function page(line) {
  const [header, value] = line.split(/: (.*)/);
  const { status, ms } = await send('GET', '/me', { [header.toLowerCase()]: value });
  times.pages.push(ms);
  if (status !== 200) failed.pages++;
}

async function probe() {
  const { status, text } = await send('GET', '/probe', {});
  if (status !== 200) return;
  for (const [name, ms] of Object.entries(JSON.parse(text))) times[name].push(ms);
}
