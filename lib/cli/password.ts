import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Refusal } from './failure.js';

/**
 * Reads a password from stdin: at a terminal it is asked for twice and not shown, otherwise it is everything up to the end
 * of a line. Never from the arguments, which other users of the machine can see.
 *
 * @throws Refusal if there is none
 */
export async function readPassword(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  const password = stdin.isTTY ? await ask(signal) : (await text(stdin)).replace(/\r?\n$/, '');
  if (password === '') throw new Refusal('no password came from stdin');
  if (/[\r\n]/.test(password)) throw new Refusal('the password must be one line');
  return password;
}

async function ask(signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The terminal is in raw mode then, in which Ctrl-C is a character.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    process.stderr.write('New password: ');
    const password = await terminal.question('', { signal });
    process.stderr.write('\nThe same again: ');
    const again = await terminal.question('', { signal });
    process.stderr.write('\n');
    if (again !== password) throw new Refusal('the two passwords differ');
    return password;
  } finally {
    terminal.close();
  }
}
