import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';

const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin/tsc');

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: { readonly items?: readonly unknown[] };
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/**
 * Asks TypeScript's language server, as editors do, what it completes in a file.
 *
 * @param code the text of the file. Each `|` in it is a place of the cursor
 * @returns the names of the completions, by place
 */
export async function completions(folder: string, file: string, code: string): Promise<string[][]> {
  const server = spawn(process.execPath, [compiler, '--lsp', '--stdio'], {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting = new Map<number, (message: Message) => void>();
  const ended = new Promise<never>((_, reject) => {
    server.once('error', reject);
    server.once('exit', (status) => reject(new Error(`the language server has ended with ${status}`)));
  });
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message });
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
  };
  const ask = async (method: string, params: object): Promise<unknown> => {
    const id = waiting.size + 1;
    const response = new Promise<Message>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const { result, error } = await Promise.race([response, ended]);
    if (error) throw new Error(error.message);
    return result;
  };
  readMessages(server.stdout, (message) => {
    if (message.id === undefined) return;
    // The server asks for settings, for example, and continues when it has a response.
    if (message.method) send({ id: message.id, result: message.params?.items?.map(() => null) ?? null });
    else waiting.get(message.id)?.(message);
  });
  try {
    const [first = '', ...others] = code.split('|');
    const uri = pathToFileURL(join(folder, file)).href;
    await ask('initialize', {
      processId: process.pid,
      rootUri: pathToFileURL(folder).href,
      capabilities: {},
    });
    send({ method: 'initialized', params: {} });
    const text = [first, ...others].join('');
    const textDocument = { uri, languageId: 'typescript', version: 1, text };
    send({ method: 'textDocument/didOpen', params: { textDocument } });
    const found: string[][] = [];
    let before = first;
    for (const other of others) {
      const lines = before.split('\n');
      const position = { line: lines.length - 1, character: lines.at(-1)?.length ?? 0 };
      found.push(namesIn(await ask('textDocument/completion', { textDocument: { uri }, position })));
      before += other;
    }
    return found;
  } finally {
    ended.catch(() => undefined);
    server.kill();
  }
}

function namesIn(result: unknown): string[] {
  const { items } = (Array.isArray(result) ? { items: result } : (result ?? { items: [] })) as {
    readonly items: readonly { readonly label: string }[];
  };
  return items.map(({ label }) => label.replace(/\?$/, ''));
}

/** Calls a function with each message of a stream of the Language Server Protocol. */
function readMessages(stream: NodeJS.ReadableStream, take: (message: Message) => void): void {
  let buffered = Buffer.alloc(0);
  stream.on('data', (bytes: Buffer) => {
    buffered = Buffer.concat([buffered, bytes]);
    for (;;) {
      const start = buffered.indexOf('\r\n\r\n') + 4;
      if (start < 4) return;
      const length = Number(/Content-Length: (\d+)/i.exec(buffered.toString('latin1', 0, start))?.[1]);
      if (buffered.length < start + length) return;
      const message = JSON.parse(buffered.toString('utf8', start, start + length));
      buffered = buffered.subarray(start + length);
      take(message);
    }
  });
}
