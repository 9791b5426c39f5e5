import type { TasksOptions } from '../config/tasks.js';
import { AuthError, declareProblems } from '../errors.js';
import type { Log } from '../logger.js';
import type { Session, User } from '../tables/core.js';
import type { Authentication } from './request.js';

/** Something that a user must do before the sessions of the account can be used. */
export interface Task {
  readonly name: string;
  /** The page where it is done. Null if there is none. */
  readonly page: string | null;
  /** Whether API keys cannot be used either while it is open. */
  readonly holdsKeys: boolean;
  /** Whether sessions in responses have a list of tasks even if none is open. */
  readonly isListed: boolean;
  /** @param session null for the account itself, and for an API key */
  isOpen(user: User, session: Pick<Session, 'amr'> | null): boolean;
}

const NONE: readonly string[] = [];

/** A plugin that has tasks. */
export interface HasTasks {
  readonly tasks?: readonly Task[];
}

/**
 * Which tasks can be open for a route or guard: any task; any task, as long as it does one of the named ones (`does`); or
 * only the listed tasks.
 */
export type OpenTo = 'any-task' | { readonly does: readonly string[] } | readonly string[];

/**
 * The only place that decides whether a session can be used while tasks of its user are open. It sends no statement,
 * because it gets the user that was read with the session.
 */
export class Tasks {
  readonly #own: readonly Task[];
  #all: readonly Task[] | undefined;
  #areListed: boolean | undefined;

  constructor(
    own: TasksOptions,
    private readonly contributions: () => readonly HasTasks[],
    private readonly log: Log,
  ) {
    this.#own = Object.entries(own).map(([name, { open, page }]) => ({
      name,
      page,
      holdsKeys: false,
      isListed: true,
      isOpen: (user) => this.#isOpen(name, open, user),
    }));
  }

  /** All tasks, in the order in which they are to be done. Complete when all plugins are set up. */
  get all(): readonly Task[] {
    this.#all ??= [...this.contributions().flatMap(({ tasks = [] }) => tasks), ...this.#own];
    return this.#all;
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

  /** Returns the names of the open tasks of a session, in the order in which they are to be done. */
  open(user: User, session: Pick<Session, 'amr'> | null): readonly string[] {
    let open: string[] | undefined;
    for (const task of this.all)
      if (task.isOpen(user, session)) {
        open ??= [];
        open.push(task.name);
      }
    return open ?? NONE;
  }

  /** Returns a session with the names of its open tasks, if there are some, or if sessions always have a list. */
  of(user: User, session: Session): Session {
    return this.#with(session, this.open(user, session));
  }

  /**
   * Refuses a request whose session has open tasks, or whose API key is held by them.
   *
   * @param openTo the tasks that can be open. By default, none can
   * @returns the authentication, whose session has the names of its open tasks, if there are any tasks
   * @throws AuthError `task_required` with the first open task
   */
  admit<A extends Authentication>(authentication: A, openTo: OpenTo = []): A {
    const { user, session } = authentication;
    const open = session === null ? this.#holdingKeys(user) : this.open(user, session);
    const isAdmitted = session === null ? open.length === 0 : isOpenTo(openTo, open);
    if (!isAdmitted) throw taskRequired(open);
    return this.#named(authentication, open);
  }

  /** Refuses what outlives the session, such as an API key, while any task is open. @throws AuthError `task_required` */
  requireNone(user: User): void {
    const open = this.open(user, null);
    if (open.length > 0) throw taskRequired(open);
  }

  /** Like {@link admit}, where a session is not required: returns null for one with open tasks. */
  admitIfDone<A extends Authentication>(authentication: A): A | null {
    const { user, session } = authentication;
    if (session === null) return this.admit(authentication);
    const open = this.open(user, session);
    return open.length > 0 ? null : this.#named(authentication, open);
  }

  /** The page where a task is done. Null if there is none. */
  pageOf(task: string): string | null {
    return this.all.find(({ name }) => name === task)?.page ?? null;
  }

  #with(session: Session, open: readonly string[]): Session {
    return this.areListed || open.length > 0 ? { ...session, tasks: open } : session;
  }

  #named<A extends Authentication>(authentication: A, open: readonly string[]): A {
    const { session } = authentication;
    // Most requests do not need a copy.
    if (session === null || (open.length === 0 && !this.areListed)) return authentication;
    return { ...authentication, session: this.#with(session, open) };
  }

  #holdingKeys(user: User): readonly string[] {
    return this.all.filter((task) => task.holdsKeys && task.isOpen(user, null)).map(({ name }) => name);
  }

  #isOpen(name: string, open: TasksOptions[string]['open'], user: User): boolean {
    try {
      const answer: unknown = open(user as never);
      if (typeof answer === 'boolean') return answer;
      // Nobody awaits it, so its rejection would end the process.
      if (answer instanceof Promise) answer.catch(() => undefined);
      this.log.error('tasks.failed', `tasks.${name}.open must return a boolean, so the task counts as open`);
    } catch (error) {
      this.log.error('tasks.failed', `tasks.${name}.open has failed, so the task counts as open`, {
        err: error,
      });
    }
    return true;
  }
}

function isOpenTo(openTo: OpenTo, open: readonly string[]): boolean {
  if (openTo === 'any-task' || open.length === 0) return true;
  return 'does' in openTo
    ? open.some((name) => openTo.does.includes(name))
    : open.every((name) => openTo.includes(name));
}

function taskRequired([task = '']: readonly string[]): AuthError {
  return new AuthError('task_required', { task });
}

const problems = declareProblems({
  task_required: [403, 'This account has something to do first: see task.'],
});

declare module '../errors.js' {
  interface ProblemCodes extends Record<keyof typeof problems, unknown> {}
}
