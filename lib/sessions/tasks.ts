import type { Settings } from '../config/config.js';
import { AuthError, type AuthErrorCode, declareProblems } from '../errors.js';
import type { Log } from '../logger.js';
import type { Session, User } from '../tables/core.js';
import type { Authentication } from './request.js';

/** A task that a user must complete before the sessions of the account can be used. */
export interface Task {
  readonly name: string;
  /** The page where the user completes it. Null if there is no such page. */
  readonly page: string | null;
  /** Whether API keys cannot be used while it is open. */
  readonly holdsKeys: boolean;
  /** Whether sessions in responses have a list of tasks even if none is open. */
  readonly isListed: boolean;
  /**
   * The problem with which a session is rejected while the task is open. Set it for a task that only reauthentication
   * completes. The task is then not in the lists of tasks.
   * @default task_required
   */
  readonly problem?: AuthErrorCode;
  /** @param session null for the account itself, and for an API key */
  isOpen(user: User, session: SessionWithTasks | null): boolean;
}

/** The part of a session that tasks can depend on. */
export type SessionWithTasks = Pick<Session, 'amr' | 'aal' | 'actorId'>;

const NONE: readonly string[] = [];

/** A plugin that has tasks. */
export interface HasTasks {
  readonly tasks?: readonly Task[];
}

/**
 * The tasks that can be open for a route or guard: any task; any task, as long as one of the named tasks is open
 * (`does`); or only the listed tasks.
 */
export type OpenTo = 'any-task' | { readonly does: readonly string[] } | readonly string[];

/** What {@link Tasks} need. */
interface TasksNeeds {
  readonly settings: Settings;
  readonly contributions: readonly HasTasks[];
}

/**
 * The only place that decides whether a session can be used while tasks of its user are open. It sends no statement,
 * because it gets the user that was read with the session.
 */
export class Tasks {
  readonly #own: readonly Task[];
  #all: readonly Task[] | undefined;
  #areListed: boolean | undefined;

  constructor(private readonly core: TasksNeeds) {
    const { tasks, log } = core.settings;
    this.#own = Object.entries(tasks).map(([name, { open, page }]) => ({
      name,
      page,
      holdsKeys: false,
      isListed: true,
      isOpen: (user) =>
        holds(open as Condition, user, log, {
          name: `tasks.${name}.open`,
          otherwise: 'the task counts as open',
        }),
    }));
  }

  /** All tasks, in the order in which users must complete them. The list is complete when all plugins are set up. */
  get all(): readonly Task[] {
    this.#all ??= [...this.core.contributions.flatMap(({ tasks = [] }) => tasks), ...this.#own];
    return this.#all;
  }

  /** The names of the tasks that lists can contain, in their order. */
  get names(): readonly string[] {
    return this.all.filter(({ problem }) => problem === undefined).map(({ name }) => name);
  }

  /** Whether there are any tasks. */
  get isOn(): boolean {
    return this.all.length > 0;
  }

  /** Whether sessions in responses have a list of tasks even if none is open. */
  get areListed(): boolean {
    this.#areListed ??= this.all.some(({ isListed }) => isListed);
    return this.#areListed;
  }

  /** The problems with which sessions are rejected. */
  get problems(): readonly AuthErrorCode[] {
    return this.all.map(({ problem = 'task_required' }) => problem);
  }

  /**
   * Returns the names of the open tasks of a session, in the order in which the user must complete them. An administrator
   * who acts as the user can complete none, so none is open in an acting session.
   */
  open(user: User, session: SessionWithTasks | null): readonly string[] {
    if (session?.actorId) return NONE;
    let open: string[] | undefined;
    for (const task of this.all)
      if (task.isOpen(user, session)) {
        open ??= [];
        open.push(task.name);
      }
    return open ?? NONE;
  }

  /** Returns a session with the names of its open tasks, if it has any, or if sessions always have a list. */
  of(user: User, session: Session): Session {
    return this.#with(session, this.open(user, session));
  }

  /**
   * Rejects a request whose session has open tasks, or whose API key cannot be used because of open tasks.
   *
   * @param openTo the tasks that can be open. By default, no task can be open
   * @returns the authentication, whose session has the names of its open tasks, if there are any tasks
   * @throws AuthError `task_required` with the first open task, or the problem that this task has instead
   */
  admit<A extends Authentication>(authentication: A, openTo: OpenTo = []): A {
    const { user, session } = authentication;
    const open = session === null ? this.#holdingKeys(user) : this.open(user, session);
    const isAdmitted = session === null ? open.length === 0 : isOpenTo(openTo, open);
    if (!isAdmitted) throw this.#refusal(open);
    return this.#named(authentication, open);
  }

  /**
   * Rejects the creation of a credential that outlives the session, such as an API key, while any task is open.
   *
   * @throws AuthError `task_required`
   */
  requireNone(user: User): void {
    const open = this.open(user, null);
    if (open.length > 0) throw this.#refusal(open);
  }

  /** Like {@link admit}, but returns null for a session with open tasks, because a session is not required. */
  admitIfDone<A extends Authentication>(authentication: A): A | null {
    const { user, session } = authentication;
    if (session === null) return this.admit(authentication);
    const open = this.open(user, session);
    return open.length > 0 ? null : this.#named(authentication, open);
  }

  /** Returns the page where the user completes a task. Null if there is no such page. */
  pageOf(task: string): string | null {
    return this.all.find(({ name }) => name === task)?.page ?? null;
  }

  #with(session: Session, names: readonly string[]): Session {
    const open = names.length === 0 ? names : names.filter((name) => this.names.includes(name));
    return this.areListed || open.length > 0 ? { ...session, tasks: open } : session;
  }

  #named<A extends Authentication>(authentication: A, open: readonly string[]): A {
    const { session } = authentication;
    // Most requests do not need a copy.
    if (session === null || (open.length === 0 && !this.areListed)) return authentication;
    return { ...authentication, session: this.#with(session, open) };
  }

  #holdingKeys(user: User): readonly string[] {
    const open = this.open(user, null);
    return open.filter((one) => this.all.some(({ name, holdsKeys }) => name === one && holdsKeys));
  }

  #refusal([first = '']: readonly string[]): AuthError {
    const { problem } = this.all.find(({ name }) => name === first) ?? {};
    return problem === undefined ? new AuthError('task_required', { task: first }) : new AuthError(problem);
  }
}

/** A function of the app that decides about a user. */
export type Condition = (user: User & Readonly<Record<string, unknown>>) => boolean;

/** The option that contains a {@link Condition}. */
interface ConditionOption {
  readonly name: string;
  /** The consequence of a failure, in words. */
  readonly otherwise: string;
  /** The result in case of a failure. @default true */
  readonly whenBroken?: boolean;
}

/**
 * Calls a function of the app that decides about a user. If the function fails, or does not return a boolean, an error
 * is logged.
 *
 */
export function holds(
  condition: Condition,
  user: User,
  log: Log,
  { name, otherwise, whenBroken = true }: ConditionOption,
): boolean {
  try {
    const answer: unknown = condition(user as never);
    if (typeof answer === 'boolean') return answer;
    // Nothing awaits the promise, so its rejection would end the process.
    if (answer instanceof Promise) answer.catch(() => undefined);
    log.error('tasks.failed', `${name} must return a boolean, so ${otherwise}`);
  } catch (error) {
    log.error('tasks.failed', `${name} has failed, so ${otherwise}`, { err: error });
  }
  return whenBroken;
}

function isOpenTo(openTo: OpenTo, open: readonly string[]): boolean {
  if (openTo === 'any-task' || open.length === 0) return true;
  return 'does' in openTo
    ? open.some((name) => openTo.does.includes(name))
    : open.every((name) => openTo.includes(name));
}

const problems = declareProblems({
  task_required: [403, 'You must complete a task first: see task.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
