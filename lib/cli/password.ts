import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Refusal } from './output.js';

/**
 * Reads a password from stdin. At a terminal, the command asks for it twice and does not show it; other input must be
 * one line. Arguments cannot contain the password, because other users of the machine could see it.
 *
 * @throws Refusal if there is no password
 */
export async function readPassword(signal: AbortSignal): Promise<string> {
  const { stdin } = process;
  const password = stdin.isTTY ? await ask(signal) : (await text(stdin)).replace(/\r?\n$/, '');
  if (password === '')
    throw new Refusal('stdin contained no password: enter one, or pipe it into this command');
  if (/[\r\n]/.test(password)) throw new Refusal('the password must be one line');
  return password;
}

async function ask(signal: AbortSignal): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: silent, terminal: true });
  // The terminal is now in raw mode, where Ctrl-C is a character and sends no signal.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    process.stderr.write('New password: ');
    const password = await terminal.question('', { signal });
    process.stderr.write('\nRepeat the password: ');
    const again = await terminal.question('', { signal });
    process.stderr.write('\n');
    if (again !== password) throw new Refusal('the two passwords differ: run the command again');
    return password;
  } finally {
    terminal.close();
  }
}
