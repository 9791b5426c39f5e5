import * as z from 'zod';
import type { User } from '../tables/core.js';
import { schemaOf } from './options.js';

/** A step that users must complete before they can use the app, such as accepting new terms. */
export interface TaskOptions {
  /**
   * Returns whether the user still has to complete the task. It is called for each request with a session, and gets the
   * user as in `req.auth`, with the fields that users can see. It must be synchronous. If it throws, the task counts as
   * open.
   * @default none, required
   */
  readonly open: (user: User & Readonly<Record<string, unknown>>) => boolean;
  /**
   * The app's page where users complete the task, as browsers see its path. Guards redirect browsers to it, so the page
   * needs a guard that names the task: `requireSession(auth, { tasks: ['onboarding'] })`.
   * @default none, required
   */
  readonly page: string;
}

/** The app's tasks, by their names. */
export type TasksOptions = Readonly<Record<string, TaskOptions>>;

/** The names of latchkey's own tasks. */
const RESERVED = ['choose_password', 'enroll_second_factor'];

const NAME = 'must be a name such as onboarding: lower-case letters, digits and _, at most 40';
const PAGE = 'must be a path of your app in ASCII, such as /welcome';

/** @internal */
export const taskSchema = schemaOf<TaskOptions>()({
  open: z.custom<TaskOptions['open']>(
    (it) => typeof it === 'function',
    'must be a function of a user that returns a boolean',
  ),
  // The page is sent in a header, which can contain only ASCII.
  page: z.string(PAGE).regex(/^\/(?!\/)[!-[\]-~]*$/, PAGE),
});

/** @internal */
export const tasksSchema = z
  .record(z.string(), taskSchema, 'must be an object of tasks by name')
  .superRefine((tasks, context) => {
    for (const name of Object.keys(tasks)) {
      const isOurs = RESERVED.includes(name);
      if (/^[a-z][a-z0-9_]{0,39}$/.test(name) && !isOurs) continue;
      const message = isOurs ? 'is a task of latchkey: choose another name' : NAME;
      context.addIssue({ code: 'custom', path: [name], message });
    }
  });
