import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, stop } from 'esbuild';
import { Client } from '../../../bench/load/http.mjs';
import { type DatabaseProxy, startProxy } from '../proxy.js';
import type { Order, Report, Surroundings, Work } from './app.js';
import { type Break, breaking } from './breaks.js';

/** An email that a process has sent. */
export interface Sent {
  readonly to: string;
  readonly kind: string;
  readonly token: string | undefined;
}

const CONNECTIONS = 64;
const root = resolve(import.meta.dirname, '../../..');

/** The programs, without a break and with each. */
const bundles = new Map<Break | undefined, Promise<string>>();

/** The program of a process in one file, which starts much faster than one that is compiled each time. */
async function program(broken: Break | undefined): Promise<string> {
  const folder = join(root, 'node_modules/.cache/latchkey-crash', String(process.pid));
  mkdirSync(folder, { recursive: true });
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const outfile = join(folder, `app${bundles.size}.mjs`);
  const entry = join(import.meta.dirname, 'app-process.ts');
  const how = { bundle: true, packages: 'external', platform: 'node', format: 'esm' } as const;
  const plugins = broken ? [breaking(broken)] : [];
  await build({ entryPoints: [entry], outfile, plugins, ...how });
  await stop();
  return outfile;
}

/** A process of the app, behind a proxy of its own unless it is on SQLite. */
export class AppProcess {
  readonly client: Client;
  #orders = new Map<number, (report: { error?: string } | null) => void>();
  #count = 0;

  private constructor(
    readonly number: number,
    readonly child: ChildProcess,
    /** Null on SQLite. */
    readonly proxy: DatabaseProxy | null,
    port: number,
    readonly ended: Promise<unknown>,
  ) {
    this.client = new Client(port, CONNECTIONS);
  }

  static async start(
    number: number,
    surroundings: Surroundings,
    onMail: (mail: Sent) => void,
    broken?: Break,
  ): Promise<AppProcess> {
    const { database } = surroundings;
    const proxy = database.startsWith('sqlite:') ? null : await startProxy(database);
    const task = JSON.stringify({ ...surroundings, database: proxy?.url ?? database });
    const bundle = bundles.get(broken) ?? program(broken);
    bundles.set(broken, bundle);
    const child = fork(await bundle, [task], {
      execArgv: [],
      env: { ...process.env, NODE_OPTIONS: '', NODE_ENV: 'test' },
      // Sequelize writes to the console of each rollback that fails.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const kill = () => child.kill('SIGKILL');
    process.once('exit', kill);
    const ended = once(child, 'exit').then(() => process.off('exit', kill));
    const first = await Promise.race([once(child, 'message'), ended.then(() => null)]);
    if (!first) throw new Error('a process of the app did not start');
    const [{ port }] = first as [{ port: number }];
    const it = new AppProcess(number, child, proxy, port, ended);
    child.on('message', (report: Report) => it.#onReport(report, onMail));
    void ended.then(() => it.#onEnd());
    return it;
  }

  get isAlive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** @returns whether it has done it; false if it has ended instead */
  order(what: 'settle' | 'prune' | 'deliver'): Promise<boolean> {
    return this.#order({ what });
  }

  /** Imports users, as {@link AppProcess.order}. */
  import(batch: number): Promise<boolean> {
    return this.#order({ what: 'import', batch });
  }

  /** Kills itself at a statement, if one comes. */
  dieAt(spared: number, moment: 'before' | 'after'): void {
    this.#send({ id: 0, what: 'die', spared, moment });
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.ended;
  }

  async stop(): Promise<void> {
    await this.kill();
    await this.proxy?.pass();
    await this.proxy?.stop();
  }

  async #order(order: Work): Promise<boolean> {
    if (!this.isAlive) return false;
    const id = ++this.#count;
    const report = await new Promise<{ error?: string } | null>((done) => {
      this.#orders.set(id, done);
      this.#send({ id, ...order });
    });
    if (report?.error) throw new Error(`${order.what}: ${report.error}`);
    return report !== null;
  }

  #send(message: Order | { received: number }): void {
    // It may end at any time.
    if (this.child.connected) this.child.send(message, () => undefined);
  }

  #onReport(report: Report, onMail: (mail: Sent) => void): void {
    if ('mail' in report) {
      onMail(report.message);
      this.#send({ received: report.mail });
    } else if ('id' in report) {
      this.#orders.get(report.id)?.(report);
      this.#orders.delete(report.id);
    }
  }

  #onEnd(): void {
    this.client.close();
    for (const done of this.#orders.values()) done(null);
    this.#orders.clear();
  }
}
