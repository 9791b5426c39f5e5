import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import type { Command } from 'commander';
import { createProgram } from '../lib/cli/program.js';
import { AuthError } from '../lib/index.js';
import { declaredLimits } from '../lib/limits/limiter.js';
import { declaredEvents } from '../lib/outbox/events.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const read = (page: string) => readFile(`${folder}/docs/${page}.md`, 'utf8');
const page = await read('operations');
const questions = page.split(/^## /m).slice(1);
/** What the page has as code, apart from commands. */
const code = [...page.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replace(/\s+/g, ' '));

const namesIn = async (of: string, pattern: RegExp) =>
  new Set([...(await read(of)).matchAll(pattern)].map(([, name]) => name));
const metrics = await namesIn('telemetry', /^\| `(latchkey\.[a-z_.]+)` \| \w[\w ]* \| `.*?` \|/gm);
const attributes = await namesIn('telemetry', /^\| `(latchkey\.[a-z_.]+)` \| [^|]* \|$/gm);
const lines = await namesIn('logs', /^\| `([a-z_]+\.[a-z_]+)` \|/gm);

/** The fault of a command of the page, such as an option that does not exist. */
function faultOf(line: string): string | null {
  const [, , ...words] = line.split(' ');
  let command: Command = createProgram(process, { version: '0', folder }).command;
  for (const word of words) {
    const inner = command.commands.find((one) => one.name() === word);
    if (inner) command = inner;
    else if (word.startsWith('--')) {
      if (!command.options.some(({ long }) => long === word)) return `${line}: there is no option ${word}`;
    } else if (command.registeredArguments.length === 0) return `${line}: there is no command ${word}`;
  }
  return command.commands.length > 0 && words.length > 0 ? `${line}: a command is missing` : null;
}

test('docs/operations.md answers each question with a metric, a log line or a command', () => {
  expect(questions.length).toBeGreaterThanOrEqual(10);
  for (const question of questions) {
    const [title] = question.split('\n');
    expect([title, title?.endsWith('?')]).toEqual([title, true]);
    const answered = [...question.matchAll(/`([^`]+)`/g)].some(
      ([, name = '']) => metrics.has(name) || lines.has(name) || name.startsWith('npx latchkey '),
    );
    expect([title, answered]).toEqual([title, true]);
  }
});

test('the metrics and attributes that docs/operations.md names exist', () => {
  const named = code.filter((one) => one.startsWith('latchkey.'));
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((one) => !metrics.has(one) && !attributes.has(one))).toEqual([]);
});

test('the log lines and events that docs/operations.md names exist', () => {
  const named = code.filter((one) => /^[a-z_]+\.[a-z_]+$/.test(one) && !one.startsWith('latchkey.'));
  expect(named.filter((one) => lines.has(one)).length).toBeGreaterThan(10);
  const options = ['outbox.interval', 'session.lifetime'];
  const known = (one: string) => lines.has(one) || declaredEvents.has(one) || options.includes(one);
  expect(named.filter((one) => !known(one))).toEqual([]);
});

test('the rules and outcomes that docs/operations.md names exist', () => {
  for (const rule of ['signIn', 'signUp', 'mail', 'mailAddress'])
    expect([rule, code.includes(rule), declaredLimits.has(rule)]).toEqual([rule, true, true]);
  for (const outcome of ['unavailable', 'rate_limited', 'invalid_credentials'] as const)
    expect([code.includes(outcome), new AuthError(outcome).code]).toEqual([true, outcome]);
});

test('the commands that docs/operations.md names exist, with these options', () => {
  const commands = code.filter((one) => one.startsWith('npx latchkey'));
  expect(commands.length).toBeGreaterThan(15);
  expect(commands.map(faultOf).filter((fault) => fault !== null)).toEqual([]);
  // The check itself finds what does not exist.
  expect(faultOf('npx latchkey users vanish ada@example.com')).not.toBeNull();
  expect(faultOf('npx latchkey prune --all')).not.toBeNull();
});
