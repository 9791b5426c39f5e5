import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');

/** Replaces a text of a file, which is there exactly once. */
interface Edit {
  /** Below `lib`. */
  readonly file: string;
  readonly text: string;
  readonly by: string;
}

/** A fault in the code, which the crash test must find. */
export interface Break {
  /** What is wrong. */
  readonly name: string;
  readonly edits: readonly Edit[];
}

export const BREAKS: readonly Break[] = [
  {
    name: 'no lock on users',
    edits: [
      {
        file: 'users/users.ts',
        text: "const lock = this.core.database.dialect === 'sqlite' ? '' : ' FOR UPDATE';",
        by: "const lock = '';",
      },
    ],
  },
  {
    name: 'a link used up after the commit',
    edits: [
      {
        file: 'waiting/waiting.ts',
        text: '    return (await this.end(key, transaction)) ? record : null;',
        by: `    this.database.afterCommit(transaction, () => void this.end(key));
    return record;`,
      },
      {
        file: 'verification/tokens.ts',
        text: '      await this.#waiting.end({ userId: record.user.id, ...siblings }, transaction);',
        by: '',
      },
      {
        file: 'verification/tokens.ts',
        text: 'for (const purpose of endedByNewPassword()) await this.#waiting.end({ userId, purpose }, transaction);',
        by: 'for (const purpose of endedByNewPassword()) this.core.database.afterCommit(transaction, () => void this.#waiting.end({ userId, purpose }));',
      },
    ],
  },
  {
    name: 'an epoch not raised when all sessions are revoked',
    edits: [
      {
        file: 'sessions/sessions.ts',
        text: `      await this.#raiseUser(userId, transaction);
      const isKept`,
        by: '      const isKept',
      },
    ],
  },
  {
    name: 'sessions of a former epoch accepted',
    edits: [
      {
        file: 'sessions/sessions.ts',
        text: "readonly #on = 'u.id = s.user_id AND u.auth_epoch = s.auth_epoch';",
        by: "readonly #on = 'u.id = s.user_id';",
      },
    ],
  },
  {
    name: 'an event written after the commit of its change',
    edits: [
      {
        file: 'outbox/webhooks.ts',
        text: 'if (transaction && this.core.outbox.addTo(transaction, this.#entriesOf(occurred))) return;',
        by: '',
      },
    ],
  },
  {
    name: 'an event written before the commit, in a transaction of its own',
    edits: [
      {
        file: 'outbox/webhooks.ts',
        text: 'if (transaction && this.core.outbox.addTo(transaction, this.#entriesOf(occurred))) return;',
        by: 'if (transaction) return void this.core.outbox.add(this.#entriesOf(occurred)).catch(() => undefined);',
      },
    ],
  },
  {
    name: 'a notice written in the background',
    edits: [
      {
        file: 'mail/mails.ts',
        text: "    await this.#add({ type: 'notice', ...mail, language }, mail.template.kind, transaction);",
        by: `    const add = () =>
      this.#add({ type: 'notice', ...mail, language }, mail.template.kind).catch(() => undefined);
    setTimeout(add, 30);`,
      },
    ],
  },
  {
    name: 'a link used up in one transaction, and its work done in another one',
    edits: [
      {
        file: 'verification/tokens.ts',
        text: `    return this.core.database.transaction(async (transaction) => {
      const record = await this.#waiting.use(found, transaction);`,
        by: `    const proven = await this.core.database.transaction(async (transaction) => {
      const record = await this.#waiting.use(found, transaction);`,
      },
      {
        file: 'verification/tokens.ts',
        text: `      return work(proved, transaction);
    });`,
        by: `      return proved;
    });
    return this.core.database.transaction((transaction) => work(proven, transaction));`,
      },
    ],
  },
  {
    name: 'an account in one transaction, and its link to the provider in another one',
    edits: [
      {
        file: 'plugins/oauth/identities.ts',
        text: `      await this.#insertLink(created.user.id, transaction);
      if (!emailProof`,
        by: '      if (!emailProof',
      },
      {
        file: 'plugins/oauth/identities.ts',
        text: `      return { ...created, isNew: true };
    });`,
        by: `      return created;
    }).then(async (created) => {
      await core.database.transaction((transaction) => this.#insertLink(created.user.id, transaction));
      return { ...created, isNew: true };
    });`,
      },
    ],
  },
  {
    name: 'an answer before the commit',
    edits: [
      {
        file: 'database/database.ts',
        text: `    const { outcome, later } = await this.#write((turn) =>
      this.sequelize.transaction(`,
        by: `    let answer: (done: never) => void = () => undefined;
    const early = new Promise<never>((resolve) => {
      answer = resolve;
    });
    const written = this.#write((turn) =>
      this.sequelize.transaction(`,
      },
      {
        file: 'database/database.ts',
        text: `        return turn.inTime(this.#units.during(transaction, unit)).catch((error) => {
          if (isUsedByHook(transaction)) this.#drop(transaction);
          throw error;
        });
      }),
    );
    for (const one of later) one();`,
        by: `        const done = await turn.inTime(this.#units.during(transaction, unit));
        answer(done as never);
        return done;
      }),
    );
    written.catch(() => undefined);
    const { outcome, later } = await Promise.race([early, written]);
    for (const one of later) one();`,
      },
    ],
  },
  {
    name: 'sessions kept after a reset of the password',
    edits: [
      {
        file: 'plugins/credential-password/password-reset.ts',
        text: '        await sessions.endAll(userId, transaction);',
        by: '',
      },
    ],
  },
  {
    name: 'sessions looked up in a cache',
    edits: [
      {
        file: 'sessions/lookup.ts',
        text: ': this.database.awaitShared(() => this.#batches.find(key));',
        by: `: (((this as any).cache ??= new Map()).get(key) ??
          (this as any).cache.set(key, this.database.awaitShared(() => this.#batches.find(key))).get(key));`,
      },
    ],
  },
];

/** @throws Error if there is no such break */
export function breakOf(name: string): Break {
  const found = BREAKS.find((one) => one.name === name);
  if (found) return found;
  throw new Error(`there is no break ${JSON.stringify(name)}: ${BREAKS.map((one) => one.name).join('; ')}`);
}

/**
 * The texts of the files with the fault in them, by path.
 *
 * @throws Error if a text is not there any more, or more than once
 */
export async function broken({ name, edits }: Break): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  for (const { file, text, by } of edits) {
    const path = join(root, 'lib', file);
    const source = texts.get(path) ?? (await readFile(path, 'utf8'));
    const count = source.split(text).length - 1;
    if (count !== 1)
      throw new Error(
        `the break "${name}" does not fit lib/${file} any more: what it replaces is there ${count} times, and must be there once: ${text}`,
      );
    texts.set(
      path,
      source.replace(text, () => by),
    );
  }
  return texts;
}

/** Puts a fault into the code while it is bundled. The files stay as they are. */
export function breaking(one: Break): Plugin {
  return {
    name: 'break',
    async setup(build) {
      const texts = await broken(one);
      const bundled = new Set<string>();
      build.onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = texts.get(path);
        if (contents === undefined) return null;
        bundled.add(path);
        return { contents, loader: 'ts' };
      });
      build.onEnd(() => {
        for (const path of texts.keys())
          if (!bundled.has(path)) throw new Error(`the break "${one.name}": the app does not use ${path}`);
      });
    },
  };
}
