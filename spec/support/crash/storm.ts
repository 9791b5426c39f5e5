import { setTimeout as pause } from 'node:timers/promises';
import { Transaction } from 'sequelize';
import type { Answer, Browser } from '../../../bench/load/http.mjs';
import { random } from '../../../bench/load/random.mjs';
import type { Dialect } from '../../../lib/database/connect.js';
import { type AuthEventName, createAuth } from '../../../lib/index.js';
import { createOnServer, createSqlite, rows, type SpecDatabase } from '../database.js';
import { brokenInvariants, rowsOf } from '../invariants.js';
import { CLIENT, startOidcServer } from '../oidc.js';
import { PAGE } from '../passkeys.js';
import { startReceiver } from '../receiver.js';
import { startMysql, startPostgres } from '../servers.mjs';
import {
  ADMIN_PASSWORD,
  adminEmail,
  crashConfig,
  IMPORTED,
  PASSWORD_MARK,
  PROVIDER,
  type Surroundings,
} from './app.js';
import type { Break } from './breaks.js';
import { KINDS, type Kind, Lane, Violation } from './lane.js';
import { Ledger, type ReceivedEvent } from './ledger.js';
import { AppProcess, type Sent } from './processes.js';
import { RIVAL_KINDS, Rival, type RivalKind } from './rival.js';

export interface StormOptions {
  readonly dialect: Dialect;
  readonly seed: number;
  readonly seconds: number;
  /** How many faults there are at least, however long they take. @default 1 */
  readonly rounds?: number;
  /** Which run at the same time. @default 4 */
  readonly lanes?: number;
  /** Of each lane. @default 4 */
  readonly people?: number;
  readonly onRound?: (line: string) => void;
  /** A fault in the code of the app, which must be found. @default none */
  readonly broken?: Break;
}

/** What a storm was. */
export interface StormResult {
  /** Null if nothing was violated. Otherwise what, with what its user did and the rows. */
  readonly violation: string | null;
  readonly rounds: number;
  /** How long it took, or until something was violated, once everybody was there. */
  readonly seconds: number;
  readonly requests: number;
  readonly slowestMs: number;
  /** How often each fault was made. */
  readonly faults: Readonly<Record<string, number>>;
  /** How often each operation was done to its end. */
  readonly operations: Readonly<Record<Kind, number>>;
  /** How many operations were not answered. */
  readonly unanswered: number;
  readonly mails: number;
  /** How many pairs of changes were made at the same time. */
  readonly duels: number;
  /** How many events webhooks have brought. */
  readonly events: number;
}

type Server = NonNullable<Awaited<ReturnType<typeof startMysql>>>;
type Receiver = Awaited<ReturnType<typeof startReceiver>>;
type Fault = (storm: Storm) => Promise<void>;

/** So many lanes in which people sign up at the provider and leave again, and do nothing else. */
const CROWDS = 2;
const IN_CROWD = 2;
const HUNG_MS = 30_000;
const MAIL_MS = 1500;
const READY_MS = 10_000;
const LOG_LINES = 80;
const WRITE = /\b(INSERT|UPDATE|DELETE|COMMIT|START TRANSACTION)\b/;

/** How often users are imported during a fault. */
const IMPORTS = 0.3;
const OF_IMPORTS = "email LIKE 'imported-%'";

/** Faults of any database. */
const ANYWHERE: Record<string, Fault> = {
  async 'kill -9 of a process between two statements'(storm) {
    const process = storm.anyProcess();
    process.dieAt(Math.floor(storm.random() * 12), storm.random() < 0.5 ? 'before' : 'after');
    await Promise.race([process.ended, pause(800)]);
    await storm.replace(process);
  },
  async 'kill -9 of a process'(storm) {
    await storm.replace(storm.anyProcess());
  },
  async 'kill -9 of all processes'(storm) {
    await Promise.all(storm.processes.map((one) => storm.replace(one)));
  },
};

const ON_SERVERS: Record<string, Fault> = {
  ...ANYWHERE,
  async 'connections cut at a statement'(storm) {
    for (let nth = 0; nth < 5; nth++) {
      const spared = Math.floor(storm.random() * 6);
      storm.anyProcess().proxy?.cutAt(WRITE, storm.random() < 0.5 ? 'before' : 'after', spared);
      await pause(80);
    }
  },
  async 'all connections cut'(storm) {
    for (const { proxy } of storm.processes) proxy?.cut();
  },
  async 'a database that does not answer one process'(storm) {
    storm.anyProcess().proxy?.blackHole();
    await pause(200 + storm.random() * 800);
  },
  async 'a slow database'(storm) {
    for (const { proxy } of storm.processes) proxy?.delay(Math.round(storm.random() * 150));
    await pause(800);
  },
  async 'a frozen database'(storm) {
    storm.server?.freeze();
    await pause(storm.random() < 0.2 ? 5000 : 200 + storm.random() * 800);
    storm.server?.thaw();
  },
  async 'kill -9 of the database'(storm) {
    await storm.server?.kill();
    await pause(storm.random() * 300);
    await storm.server?.restart();
  },
};

const ON_SQLITE: Record<string, Fault> = {
  ...ANYWHERE,
  async 'a locked file'(storm) {
    const lock = await storm.database.sequelize
      .transaction({ type: Transaction.TYPES.IMMEDIATE })
      .catch(() => null);
    await pause(storm.random() < 0.2 ? 5000 : 200 + storm.random() * 800);
    await lock?.rollback();
  },
};

/**
 * Users who do everything there is to do, in two processes on one database, while processes, connections and the database
 * fail. After each fault comes a calm, in which everything that was acknowledged must be true, nothing that was revoked
 * may open anything, and what was not answered must have been done wholly or not at all.
 */
export class Storm {
  processes: AppProcess[] = [];
  /** Whether nothing fails, so that everything must be answered. */
  isCalm = true;
  /** Whether people sign in by email too. */
  get byMail(): boolean {
    return this.surroundings.byMail === true;
  }

  /** Those who fight about a last way in need that there is one, and all of them sign in with new browsers. */
  get #rivalKinds(): readonly RivalKind[] {
    if (this.surroundings.byCode) return [];
    return RIVAL_KINDS.filter((kind) => !this.byMail || kind !== 'sign-in methods');
  }
  /** All emails that were sent. */
  readonly inbox: Sent[] = [];
  readonly random: () => number;
  #retired: AppProcess[] = [];
  #standby: Promise<AppProcess>;
  #mailed = new Set<() => void>();
  #tokens = new Set<string>();
  /** Notices of what was acknowledged. */
  readonly #owed: Pick<Sent, 'to' | 'kind'>[] = [];
  readonly #ledger = new Ledger();
  /** What webhooks have brought, by its id. */
  readonly #events = new Map<string, ReceivedEvent>();
  /** Entries of webhooks that are known, so that one which comes again is not new. */
  readonly #accounted = new Set<string>();
  #requests = 0;
  #slowestMs = 0;
  #started = performance.now();
  #count = 0;
  #imports = 0;

  private constructor(
    readonly seed: number,
    readonly database: SpecDatabase,
    /** Null on SQLite. */
    readonly server: Server | null,
    private readonly surroundings: Surroundings,
    private readonly receiver: Receiver,
    private readonly broken: Break | undefined,
  ) {
    this.random = random(seed);
    this.#standby = this.#start();
  }

  /** @throws Error if the database's server is not installed */
  static async run({ lanes = 4, people = 4, ...options }: StormOptions): Promise<StormResult> {
    const { dialect, seed } = options;
    const server = dialect === 'sqlite' ? null : await startServer(dialect);
    try {
      const database =
        dialect === 'sqlite' ? await createSqlite() : await createOnServer(dialect, server?.url ?? '');
      const provider = await startOidcServer([`${PAGE}/auth/oauth/${PROVIDER}/callback`]);
      const client = { issuer: provider.issuer, ...CLIENT };
      const receiver = await startReceiver();
      const administrators = lanes + CROWDS + RIVAL_KINDS.length;
      const webhook = `${receiver.origin}/`;
      const isWhole = options.broken === undefined;
      const byMail = isWhole && seed % 2 === 1;
      const byCode = isWhole && seed % 3 === 0;
      const surroundings = {
        database: database.url,
        lanes: administrators,
        provider: client,
        webhook,
        byMail,
        byCode,
      };
      await migrateForCrashes(surroundings);
      const storm = new Storm(seed, database, server, surroundings, receiver, options.broken);
      try {
        return await storm.#run(options, lanes, people);
      } finally {
        await storm.#stop();
        await receiver.stop();
        await provider.stop();
      }
    } finally {
      await server?.stop();
    }
  }

  /** Seconds since the beginning. */
  get clock(): string {
    return `${((performance.now() - this.#started) / 1000).toFixed(3)} s`;
  }

  anyProcess(): AppProcess {
    return this.processes[Math.floor(this.random() * this.processes.length)] as AppProcess;
  }

  /** Sends a request to a process that `random` chooses. */
  async send(
    random: () => number,
    method: string,
    path: string,
    carried: { browser?: Browser; cookie?: string; key?: string; body?: object },
  ): Promise<{ process: number; answer: Answer | null; ms: number }> {
    return this.sendTo(Math.floor(random() * this.processes.length), method, path, carried);
  }

  /** Sends a request to a process. */
  async sendTo(
    at: number,
    method: string,
    path: string,
    carried: { browser?: Browser; cookie?: string; key?: string; body?: object },
  ): Promise<{ process: number; answer: Answer | null; ms: number }> {
    const process = this.processes[at] as AppProcess;
    this.#requests++;
    const begun = performance.now();
    const hung = pause(HUNG_MS, 'hung' as const, { ref: false });
    const answer = await Promise.race([
      process.client.send(method, path, carried as object).catch(() => null),
      hung,
    ]);
    if (answer === 'hung') throw new Error(`${method} ${path} was not answered in ${HUNG_MS / 1000} s`);
    const ms = Math.round(performance.now() - begun);
    this.#slowestMs = Math.max(this.#slowestMs, ms);
    return { process: process.number, answer, ms };
  }

  /** The token of the nth email of a kind to an address after `since`. Null if none comes. */
  async mail(to: string, kind: string, since: number, nth: number): Promise<string | null> {
    const found = () =>
      this.inbox.slice(since).filter((mail) => mail.to === to && mail.kind === kind)[nth]?.token;
    const until = performance.now() + MAIL_MS;
    for (let token = found(); ; token = found()) {
      if (token) return token;
      if (performance.now() > until) return null;
      const arrived = new Promise<void>((resolve) => this.#mailed.add(resolve));
      await Promise.race([arrived, pause(Math.max(1, until - performance.now()))]);
    }
  }

  /** Something was acknowledged of which this notice must come. */
  owe(to: string, kind: string): void {
    this.#owed.push({ to, kind });
  }

  /** A change was made, and its event must come, once. */
  happened(userId: string, event: AuthEventName): void {
    this.#ledger.happened(userId, event);
  }

  /** Nothing says whether a change was made. */
  mayHaveHappened(userId: string, event: AuthEventName): void {
    this.#ledger.mayHaveHappened(userId, event);
  }

  /** Kills a process, and lets another one take its place. */
  async replace(process: AppProcess): Promise<void> {
    await process.kill();
    const place = this.processes.indexOf(process);
    if (place < 0) return;
    this.#retired.push(process);
    const next = this.#standby;
    this.#standby = this.#start();
    this.processes[place] = await next;
  }

  async #run(options: StormOptions, lanes: number, people: number): Promise<StormResult> {
    const faults = Object.entries(options.dialect === 'sqlite' ? ON_SQLITE : ON_SERVERS);
    const made: Record<string, number> = Object.fromEntries(faults.map(([name]) => [name, 0]));
    const all = Array.from(
      { length: lanes + CROWDS },
      (_, number) => new Lane(this, number, number < lanes ? undefined : 'passBy'),
    );
    const rivals = this.#rivalKinds.map((kind, index) => new Rival(this, kind, all.length + index));
    let violation: string | null = null;
    let rounds = 0;
    let begun = performance.now();
    try {
      this.processes.push(await this.#standby);
      this.processes.push(await this.#start());
      this.#standby = this.#start();
      await Promise.all([
        ...all.map((lane, number) => lane.prepare(number < lanes ? people : IN_CROWD)),
        ...rivals.map((rival) => rival.prepare()),
      ]);
      begun = performance.now();
      const end = begun + options.seconds * 1000;
      // Each fault comes once before chance decides.
      const first = faults.map((fault) => ({ fault, at: this.random() })).sort((a, b) => a.at - b.at);
      for (; performance.now() < end || rounds < (options.rounds ?? 1); rounds++) {
        const [name, fault] =
          first.pop()?.fault ?? (faults[Math.floor(this.random() * faults.length)] as [string, Fault]);
        await this.#round(all, rivals, fault);
        made[name] = (made[name] ?? 0) + 1;
        options.onRound?.(`${this.clock}: ${name}: ${this.#requests} requests`);
      }
    } catch (error) {
      violation = await this.#describe(error, options.dialect);
    }
    const seconds = Math.round((performance.now() - begun) / 1000);
    const sum = (of: (lane: Lane) => number) => all.reduce((total, lane) => total + of(lane), 0);
    return {
      violation,
      rounds,
      seconds,
      requests: this.#requests,
      slowestMs: this.#slowestMs,
      faults: made,
      operations: Object.fromEntries(KINDS.map((kind) => [kind, sum(({ done }) => done[kind])])) as never,
      unanswered: sum(({ unsure }) => unsure),
      mails: this.inbox.length,
      duels: rivals.reduce((total, { duels }) => total + duels, 0),
      events: this.#events.size,
    };
  }

  /** A fault while everybody is busy, and the calm after it. */
  async #round(lanes: readonly Lane[], rivals: readonly Rival[], fault: Fault): Promise<void> {
    let isOver = false;
    this.isCalm = false;
    const imported = this.random() < IMPORTS ? this.#import(++this.#imports) : null;
    const busy = Promise.all(
      [...lanes, ...rivals].map(async (one) => {
        while (!isOver) if (!(await one.step())) await pause(5);
      }),
    );
    const storm = async () => {
      await pause(50 + this.random() * 200);
      if (this.random() < 0.3)
        void this.anyProcess()
          .order('prune')
          .catch(() => undefined);
      await fault(this);
      await pause(50 + this.random() * 200);
    };
    const storming = storm();
    try {
      await Promise.race([storming, busy]);
    } finally {
      isOver = true;
      // A violation can be found while the database is still being started again.
      await storming.catch(() => undefined);
    }
    await busy;
    await this.#calm();
    if (imported) await this.#completeImport(await imported);
    await Promise.all([...lanes, ...rivals].map((one) => one.settle()));
    await this.#deliver();
    this.#checkMails();
    await this.#look(lanes, rivals, imported ? IMPORTED : 0);
    if (imported) {
      await rows(this.database, `DELETE FROM users WHERE ${OF_IMPORTS}`);
      await rows(this.database, 'DELETE FROM imported_users');
    }
  }

  /** @returns whether it was acknowledged */
  #import(batch: number): Promise<boolean> {
    return this.anyProcess()
      .import(batch)
      .catch(() => false);
  }

  /** Everybody is there if the import was acknowledged. If not, it is run again. */
  async #completeImport(isDone: boolean): Promise<void> {
    if (!isDone) await this.anyProcess().import(this.#imports);
    const users = await this.#countOf('users', OF_IMPORTS);
    if (users !== IMPORTED) throw new Error(`${users} of ${IMPORTED} users were imported`);
  }

  /** Ends the fault, and waits until nothing of it is under way any more. */
  async #calm(): Promise<void> {
    for (const process of this.processes) if (!process.isAlive) await this.replace(process);
    for (const { proxy } of this.processes) await proxy?.pass();
    for (const process of this.#retired.splice(0)) {
      await process.proxy?.drained();
      await process.stop();
    }
    for (const { proxy } of this.processes) await proxy?.drained();
    for (const process of this.processes) await process.order('settle');
    this.isCalm = true;
    for (const process of this.processes) await this.#isReady(process);
  }

  /** Resolves when a process reaches the database. */
  async #isReady(process: AppProcess): Promise<void> {
    const body = { credential: 'nobody@example.com', password: 'a password of nobody' };
    const until = performance.now() + READY_MS;
    for (;;) {
      const answer = await process.client.send('POST', '/auth/signin/credential', { body }).catch(() => null);
      if (answer?.status === 401) return;
      if (performance.now() > until)
        throw new Error(`no recovery in ${READY_MS / 1000} s: ${answer?.status}`);
      await pause(50);
    }
  }

  async #countOf(table: string, condition = '1 = 1'): Promise<number> {
    const counted = await rows<{ n: number }>(
      this.database,
      `SELECT COUNT(*) AS n FROM ${table} WHERE ${condition}`,
    );
    return Number(counted[0]?.n);
  }

  /** Compares the tables with the invariants, and with how many of everything there must be. */
  async #look(lanes: readonly Lane[], rivals: readonly Rival[], imported: number): Promise<void> {
    const events = [...this.#events.values()];
    const broken = await brokenInvariants(this.database, { secrets: [PASSWORD_MARK], events });
    const people = lanes.flatMap((lane) => lane.people);
    const fought = rivals.flatMap((rival) => rival.people);
    const users = await this.#countOf('users');
    const wantedUsers = people.length + fought.length + this.surroundings.lanes + imported;
    if (users !== wantedUsers) broken.push(`${users} users, not ${wantedUsers}`);
    const revoked = new Set(
      events.filter(({ type }) => type === 'session.revoked').map(({ data }) => data.session_id),
    );
    const untold = people.flatMap((person) => person.revoked.splice(0)).filter((id) => !revoked.has(id));
    broken.push(...untold.map((id) => `no event has told of the end of the session ${id}`));
    const unknown = people.filter(({ unresolved }) => unresolved !== null);
    broken.push(...(await this.#brokenEvents(new Set(unknown.map(({ id }) => id)))));
    if (unknown.length === 0) {
      const sum = (counts: readonly (number | undefined)[]) =>
        counts.reduce<number>((total, count) => total + (count ?? 0), 0);
      const links = [...people, ...fought.map(({ state }) => state)].filter((one) => one?.isLinked);
      const withSecondFactor = [...people, ...fought.map(({ person }) => person)];
      const wanted = {
        accounts: links.length + imported,
        api_keys: sum([...people.map(({ keys }) => keys.length), ...fought.map(({ state }) => state?.keys)]),
        passkeys: sum([
          ...people.map(({ passkeys }) => passkeys.length),
          ...fought.map(({ state }) => state?.passkeys),
        ]),
        totp_secrets: withSecondFactor.filter(({ hasSecondFactor }) => hasSecondFactor).length,
      };
      for (const [table, number] of Object.entries(wanted)) {
        const found = await this.#countOf(table);
        if (found !== number) broken.push(`${found} rows in ${table}, not ${number}`);
      }
    }
    if (broken.length > 0) throw new Error(`invariants: ${broken.join('; ')}`);
  }

  /** What processes left behind when they were killed is sent by others, without the pauses that real receivers need. */
  async #deliver(): Promise<void> {
    await rows(this.database, "UPDATE outbox SET due_at = created_at WHERE state = 'waiting'");
    for (const process of this.processes) await process.order('deliver');
    const left = await rows<{ kind: string; state: string }>(
      this.database,
      "SELECT kind, state FROM outbox WHERE state NOT IN ('sent', 'dropped')",
    );
    if (left.length > 0) throw new Error(`not sent: ${JSON.stringify(left)}`);
    for (const { headers, body } of this.receiver.hooks.splice(0)) {
      const id = String(headers['webhook-id']);
      this.#events.set(id, { id, ...JSON.parse(body) });
    }
  }

  /** Every event that has come has an entry, and every change an event. @param unknown users of whom some change is not */
  async #brokenEvents(unknown: ReadonlySet<string>): Promise<string[]> {
    const entries = await rows<{ id: string }>(
      this.database,
      "SELECT id FROM outbox WHERE lane LIKE 'webhook %'",
    );
    const written = new Set(entries.map(({ id }) => id));
    const unwritten = [...this.#events.values()].filter(
      ({ id }) => !written.has(id) && !this.#accounted.has(id),
    );
    for (const id of written) this.#accounted.add(id);
    // They are not looked at again, so that the checks stay fast.
    await rows(this.database, "DELETE FROM outbox WHERE state IN ('sent', 'dropped')");
    return [
      ...unwritten.map(({ type, data }) => `${type} of ${data.user_id} has come, and was not written`),
      ...this.#ledger.broken(this.#events.values(), unknown),
    ];
  }

  /** The notice of every change that was acknowledged has come. */
  #checkMails(): void {
    const keys = (mails: readonly Pick<Sent, 'to' | 'kind'>[]) => {
      const counts = new Map<string, number>();
      for (const { to, kind } of mails)
        counts.set(`${kind} to ${to}`, (counts.get(`${kind} to ${to}`) ?? 0) + 1);
      return counts;
    };
    const came = keys(this.inbox);
    for (const [mail, count] of keys(this.#owed))
      if ((came.get(mail) ?? 0) < count) throw new Error(`${came.get(mail) ?? 0} of ${count} ${mail} came`);
  }

  async #describe(error: unknown, dialect: Dialect): Promise<string> {
    const again = `npm run crash-test -- --dialect ${dialect} --seed ${this.seed}`;
    if (!(error instanceof Violation)) return `${(error as Error).stack}\n(${again})`;
    const { message, person } = error;
    this.server?.thaw();
    const stored = await rowsOf(this.database, person.id).catch((reason) => [`no rows: ${reason}`]);
    return [
      `${message}: ${person.email}, ${person.id}`,
      `(seed ${this.seed}: ${again})`,
      ...person.log.slice(-LOG_LINES),
      ...stored,
    ].join('\n');
  }

  #start(): Promise<AppProcess> {
    const onMail = (mail: Sent) => {
      // At least once.
      if (mail.token && this.#tokens.has(mail.token)) return;
      if (mail.token) this.#tokens.add(mail.token);
      this.inbox.push(mail);
      for (const tell of this.#mailed) tell();
      this.#mailed.clear();
    };
    const started = AppProcess.start(++this.#count, this.surroundings, onMail, this.broken);
    // Whoever awaits it is told.
    started.catch(() => undefined);
    return started;
  }

  async #stop(): Promise<void> {
    this.server?.thaw();
    const standby = await this.#standby.catch(() => null);
    for (const process of [...this.processes, ...this.#retired, ...(standby ? [standby] : [])])
      await process.stop();
    await this.database.drop().catch((error) => {
      // A server is thrown away with everything in it, and might still be starting again.
      if (!this.server) throw error;
    });
  }
}

/** @throws Error if it is not installed */
export async function startServer(dialect: 'mysql' | 'postgres'): Promise<Server> {
  const server = await (dialect === 'mysql' ? startMysql() : startPostgres());
  if (!server) throw new Error(`there is no server for ${dialect} on this machine`);
  return server;
}

/** Creates the tables of the app, and its administrators. */
export async function migrateForCrashes({ webhook: _, ...surroundings }: Surroundings): Promise<void> {
  const auth = createAuth(crashConfig(surroundings, () => undefined));
  await auth.migrate();
  for (let lane = 0; lane < surroundings.lanes; lane++)
    await auth.users.create({ email: adminEmail(lane), password: ADMIN_PASSWORD, emailVerified: true });
  await auth.close();
}
