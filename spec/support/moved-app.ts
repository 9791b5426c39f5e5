import { describe } from '@jest/globals';
import type { Dialect } from '../../lib/database/connect.js';
import type { RunningApp } from './example.js';
import type { Answer } from './pages.js';

const found = (
  [
    ['postgres', process.env.LATCHKEY_SPEC_POSTGRES ?? ''],
    ['mysql', process.env.LATCHKEY_SPEC_MYSQL ?? ''],
  ] as [Exclude<Dialect, 'sqlite'>, string][]
).filter(([, url]) => url !== '');

/** `describe` for each database server that was found; skips the specs if there is none. */
export const onEachServer =
  found.length > 0 ? describe.each(found) : describe.skip.each([['mysql', '']] as typeof found);

/** The driver that an example installs beside its own, which is that of PostgreSQL. */
export const driverOf = (dialect: Dialect) => (dialect === 'mysql' ? ['mysql2@3.24.5'] : []);

/** A request to an app, its answer, and how many statements it took. */
export interface Exchange extends Answer {
  readonly statements: readonly string[];
}

/** Runs a scenario against an app, one request after the other. */
export async function record(
  app: RunningApp,
  scenario: (url: string, note: (answer: Promise<Answer>) => Promise<void>) => Promise<void>,
): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  // Whatever it does once, after it has started.
  await fetch(app.url);
  await app.statements();
  await scenario(app.url, async (answer) => {
    const settled = await answer;
    exchanges.push({ ...settled, statements: (await app.statements()).filter(isOfTheApp) });
  });
  return exchanges;
}

/** What an outsider sees of an exchange. */
export const visible = ({ statements: _, ...answer }: Exchange): Answer => answer;

/** Not what Sequelize asks on a new connection, nor the beginning and end of a transaction. */
function isOfTheApp(sql: string): boolean {
  return (
    /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/i.test(sql) && !/VERSION\(\)|SHOW SERVER_VERSION/i.test(sql)
  );
}
