import { type ChildProcess, fork } from 'node:child_process';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { resolve } from 'node:path';
import { program } from '../support/program.js';

/** What requests can carry: each set is of a user of its own, with an administrator beside them. */
export interface Credentials {
  readonly email: string;
  readonly username: string;
  /** Session tokens. */
  readonly token: string;
  readonly rootToken: string;
  readonly apiKey: string;
  /** Ids of users, sessions and keys. */
  readonly ids: readonly string[];
}

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer | undefined;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** An operation of the OpenAPI document. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  /** The names of the fields of the body, and the values that the document lists for them. */
  readonly fields: readonly string[];
  readonly values: readonly unknown[];
  readonly parameters: readonly string[];
}

/** What the process of the app sends. */
interface Message {
  readonly credentials?: Credentials;
  /** Of the process, in bytes. */
  readonly memory?: number;
  readonly error?: string;
}

// A set of credentials is used for so many requests, since some of them end a session or an account.
const USES = 20;
const ANSWER_MS = 15_000;

/** The app that is fuzzed. */
export class World {
  readonly operations: Operation[] = [];
  /** The most memory that the process of the app has had, in bytes. */
  memory = 0;
  readonly #credentials = new Map<string, { readonly credentials: Credentials; uses: number }>();
  #answer: ((message: Message) => void) | undefined;
  /** What the app has printed, the errors of its error handler, and its end. */
  readonly #trouble: string[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 4 });

  private constructor(
    private readonly child: ChildProcess,
    readonly origin: string,
  ) {}

  static async start(): Promise<World> {
    const child = fork(program(resolve(import.meta.dirname, 'app-process.ts')), {
      // Express parses the target of a request with url.parse, of whose future Node warns.
      execArgv: ['--disable-warning=DEP0170'],
      // Without the options of the runner of the specs.
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'test' },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    const printed: string[] = [];
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => printed.push(String(data)));
    const ready = await new Promise<{ origin: string }>((done, fail) => {
      child.once('message', (message) => done(message as { origin: string }));
      child.once('exit', (code) => fail(new Error(`the app ended with code ${code}: ${printed.join('')}`)));
    });
    const world = new World(child, ready.origin);
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data) => world.#trouble.push(`it printed ${data}`));
    child.once('exit', (code, signal) => {
      world.#trouble.push(`it ended with ${code ?? signal}`);
      world.#answer?.({});
    });
    child.on('message', (message: Message) => {
      if (message.error !== undefined) world.#trouble.push(message.error);
      else world.#answer?.(message);
    });
    await world.#readDocument();
    return world;
  }

  get port(): number {
    return Number(new URL(this.origin).port);
  }

  /** Throws what has gone wrong in the app since the last call. */
  requireHealth(): void {
    const [first] = this.#trouble.splice(0);
    if (first !== undefined) throw new Error(`the app: ${first}`);
  }

  /** @param of whose: what one property ends, another one still has */
  async credentials(of: string): Promise<Credentials> {
    const known = this.#credentials.get(of);
    if (known && known.uses++ < USES) return known.credentials;
    const answer = new Promise<Message>((done) => {
      this.#answer = done;
    });
    this.child.send('credentials');
    const { credentials, memory = 0 } = await answer;
    if (!credentials) this.requireHealth();
    if (!credentials) throw new Error('the app gave no credentials');
    this.memory = Math.max(this.memory, memory);
    this.#credentials.set(of, { credentials, uses: 0 });
    return credentials;
  }

  send(sent: Sent): Promise<Received> {
    const { method, path, headers, body } = sent;
    return new Promise((done, fail) => {
      const options = {
        method,
        path,
        headers: { ...headers },
        agent: this.#agent,
        port: this.port,
        timeout: ANSWER_MS,
      };
      const sending = request(
        { ...options, host: '127.0.0.1', setHost: headers.host === undefined },
        (answer) => {
          const chunks: Buffer[] = [];
          answer.on('data', (chunk) => chunks.push(chunk));
          answer.on('error', fail);
          answer.on('end', () =>
            done({
              status: answer.statusCode ?? 0,
              headers: answer.headers,
              text: Buffer.concat(chunks).toString(),
            }),
          );
        },
      );
      sending.on('timeout', () => sending.destroy(new Error(`no answer within ${ANSWER_MS} ms`)));
      sending.on('error', (error: NodeJS.ErrnoException) => {
        // The app may close a connection that has been idle just when it is used again.
        const isClosed = sending.reusedSocket && error.code === 'ECONNRESET';
        if (isClosed) this.send(sent).then(done, fail);
        else fail(error);
      });
      if (body) sending.setHeader('Content-Length', body.length);
      sending.end(body);
    });
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    if (this.child.exitCode !== null) return;
    const ended = new Promise((done) => this.child.once('exit', done));
    this.child.disconnect();
    await ended;
  }

  async #readDocument(): Promise<void> {
    const { text } = await this.send({ method: 'GET', path: '/auth/openapi.json', headers: {} });
    const document = JSON.parse(text);
    for (const [path, methods] of Object.entries<Record<string, unknown>>(document.paths))
      for (const [method, operation] of Object.entries(methods)) {
        const schemas = schemasIn(operation, document);
        const properties = schemas.flatMap(({ properties = {} }) => Object.entries<Schema>(properties));
        const { parameters = [] } = operation as { parameters?: { name: string; in: string }[] };
        this.operations.push({
          method: method.toUpperCase(),
          path: `/auth${path}`,
          fields: [...new Set(properties.map(([name]) => name))],
          values: properties.flatMap(([, one]) => [
            ...(one.enum ?? []),
            ...('const' in one ? [one.const] : []),
          ]),
          parameters: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        });
      }
  }
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly $ref?: string;
  readonly [key: string]: unknown;
}

/** The schemas of a request's body, with those that they consist of. */
function schemasIn(operation: unknown, document: Schema): Schema[] {
  const found = new Set<Schema>();
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null || found.has(value as Schema)) return;
    const schema = value as Schema;
    found.add(schema);
    if (typeof schema.$ref === 'string') {
      const path = schema.$ref.slice(2).split('/');
      visit(path.reduce<unknown>((at, key) => (at as Schema)[key], document));
    }
    for (const one of Object.values(schema)) visit(one);
  };
  visit((operation as { requestBody?: object }).requestBody);
  return [...found];
}
