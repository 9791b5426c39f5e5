import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import type { Acting, Call } from './call.js';
import { checkCollations, checkDatabase, checkPruning, checkSchema, tablesOf } from './checks/database.js';
import { type Finding, ok } from './checks/finding.js';
import { checkHealth } from './checks/health.js';
import { checkProxy, checkSettings } from './checks/settings.js';
import { counted } from './output.js';

/** Adds `latchkey doctor`. */
export function addDoctor(parent: Command, acting: Acting): void {
  parent
    .command('doctor')
    .description(
      'Check the config, the database, the tables, the limits, the outbox, the proxy and the cookie, and say what to do.',
    )
    .action(acting(examine));
}

async function examine(call: Call): Promise<void> {
  const findings: Finding[] = [];
  for await (const finding of check(call)) {
    findings.push(finding);
    call.out.progress(`${finding.check} …`);
  }
  const problems = findings.filter(({ status }) => status === 'problem').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const summary = `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`;
  call.out.result({ ok: problems === 0, findings }, [...findings.map(inWords), summary].join('\n'));
  if (problems > 0) call.fail();
}

/** Runs the checks, except those that depend on something that does not work. */
async function* check({ auth, app }: Call): AsyncGenerator<Finding> {
  const { core } = internalsOf(auth);
  const { database, settings } = core;
  yield ok('config', `loaded by Node ${process.version}`);
  yield* checkSettings(settings);
  for await (const finding of checkDatabase(database)) {
    yield finding;
    if (!database.clock.isSet) return;
  }
  const tables = tablesOf(auth);
  for await (const finding of checkSchema(auth, database, tables)) {
    yield finding;
    if (finding.status !== 'ok') return;
  }
  yield* checkHealth(auth, settings);
  yield* await checkCollations(database, tables);
  yield await checkProxy(core, app);
  yield await checkPruning(database);
}

function inWords({ check, status, detail, mend }: Finding): string {
  const line = `${status.padEnd(8)} ${check}: ${detail}`;
  return mend === null ? line : `${line}\n         ${mend}`;
}
