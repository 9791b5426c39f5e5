import type { Command } from 'commander';
import { internalsOf } from '../auth.js';
import type { Acting, Call, Package } from './call.js';
import { checkCollations, checkDatabase, checkPruning, checkSchema, tablesOf } from './checks/database.js';
import { type Finding, ok } from './checks/finding.js';
import { checkHealth } from './checks/health.js';
import { checkLanguages } from './checks/languages.js';
import { checkOtherTools } from './checks/other-tools.js';
import { checkPasswords } from './checks/passwords.js';
import { checkProxy, checkSettings } from './checks/settings.js';
import { counted } from './output.js';
import { versionsInWords, versionsOf } from './versions.js';

/** Adds `latchkey doctor`. */
export function addDoctor(parent: Command, acting: Acting, of: Package): void {
  parent
    .command('doctor')
    .description(
      'Check the config, database, tables, rate limits, outbox, proxy and cookie, and print a fix for each problem. Also print the versions in use.',
    )
    .action(acting((call) => examine(call, of)));
}

async function examine(call: Call, of: Package): Promise<void> {
  const findings: Finding[] = [];
  for await (const finding of check(call)) {
    findings.push(finding);
    call.out.progress(`${finding.check} …`);
  }
  const problems = findings.filter(({ status }) => status === 'problem').length;
  const warnings = findings.filter(({ status }) => status === 'warning').length;
  const summary = `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}.`;
  const { database, settings } = internalsOf(call.auth).core;
  const versions = await versionsOf(of, database, settings);
  call.out.result(
    { ok: problems === 0, versions, findings },
    [`versions: ${versionsInWords(versions)}`, ...findings.map(inWords), summary].join('\n'),
  );
  if (problems > 0) call.fail();
}

/** Runs the checks, except those that depend on something that does not work. */
async function* check({ auth, app }: Call): AsyncGenerator<Finding> {
  const { core, ownTables } = internalsOf(auth);
  const { database, settings } = core;
  yield ok('config', `loaded by Node ${process.version}`);
  yield* checkSettings(settings);
  yield* checkLanguages(core);
  for await (const finding of checkPasswords(core)) {
    yield finding;
    if (finding.status !== 'ok') return;
  }
  yield* checkOtherTools(ownTables);
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

function inWords({ check, status, detail, fix }: Finding): string {
  const line = `${status.padEnd(8)} ${check}: ${detail}`;
  return fix === null ? line : `${line}\n         ${fix}`;
}
