import { randomBytes } from 'node:crypto';
import { loadEnvFile } from 'node:process';
import { Command, CommanderError } from 'commander';
import type { Auth } from '../auth.js';
import type { Acting, ActingOptions, Package } from './call.js';
import { addClient } from './client.js';
import { addDoctor } from './doctor.js';
import { addPages } from './eject.js';
import { addImport } from './import.js';
import { addInit } from './init.js';
import { addMigrate } from './migrate.js';
import { addMove } from './move.js';
import { addOpenapi } from './openapi.js';
import { addOrganizations } from './organizations.js';
import { addOutbox } from './outbox.js';
import { describeFailure, EXIT, Output, Refusal, type Streams, usageError } from './output.js';
import { loadProject } from './project.js';
import { addRoutes } from './routes.js';
import { addSchema } from './schema.js';
import { addKeys, addSessions } from './sessions.js';
import { addPrune, addRotate } from './upkeep.js';
import { addUsers } from './users.js';

/**
 * Runs the command line.
 *
 * @param args without Node and the script
 * @returns the exit code
 */
export async function run(args: readonly string[], of: Package, streams: Streams = process): Promise<number> {
  const program = createProgram(streams, of);
  try {
    await program.command.parseAsync([...args], { from: 'user' });
    return program.exitCode();
  } catch (error) {
    // Commander has already printed the error, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    new Output(streams, args.includes('--json')).failure(describeFailure(error));
    return error instanceof Refusal ? error.exitCode : EXIT.failed;
  }
}

/** Creates the command line: its commands, and the exit code of the command that has run. */
export function createProgram(
  streams: Streams,
  of: Package,
): { readonly command: Command; exitCode(): number } {
  const { version, folder } = of;
  let code: number = EXIT.done;
  const command = new Command('latchkey')
    .description("Manage the tables and accounts of an app that uses latchkey, with the app's own config.")
    .version(version, '--version', 'print the version')
    .option(
      '--config <file>',
      'the module that exports your Auth as auth (default: latchkey.config.js, .mjs, .cjs, .ts, .mts or .cts)',
    )
    .option('--env-file <file>', 'read environment variables from this file before the config is loaded')
    .option('--json', 'print the result as one JSON document')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError('Add --help to see what the command accepts.')
    .configureOutput({
      writeOut: (text) => void streams.stdout.write(text),
      writeErr: (text) => void streams.stderr.write(text),
      outputError: (text, write) => write(text.replace(/^error: /, 'latchkey: ')),
    })
    .configureHelp({ showGlobalOptions: true, helpWidth: 100 })
    .hook('preAction', (_program, called) => {
      const { envFile } = called.optsWithGlobals();
      if (envFile !== undefined) readEnvironment(envFile);
    });
  const fail = () => {
    code = EXIT.failed;
  };
  const acting: Acting =
    (work, { endsWithResult = false } = {}) =>
    async (...given) => {
      const called = given.at(-1) as Command;
      const options = called.optsWithGlobals();
      const out = new Output(streams, options.json === true);
      const isInterrupted = await untilInterrupted(out, async (signal) => {
        const project = await loadProject(options.config, process.cwd());
        if (!endsWithResult) signal.throwIfAborted();
        const done = work({ ...project, out, options, args: called.args, signal, fail });
        return { auth: project.auth, done, endsWithResult };
      });
      if (isInterrupted) code = EXIT.interrupted;
    };
  const outputOf = (called: Command) => new Output(streams, called.optsWithGlobals().json === true);
  addInit(command, outputOf, of);
  addMigrate(command, acting);
  addImport(command, acting);
  addMove(command, acting);
  addUsers(command, acting);
  addSessions(command, acting);
  addKeys(command, acting);
  addOrganizations(command, acting);
  addOutbox(command, acting);
  addPrune(command, acting);
  addRotate(command, acting);
  addDoctor(command, acting, of);
  addOpenapi(command, acting);
  addSchema(command, acting);
  addRoutes(command, outputOf, fail);
  addClient(command, acting);
  addPages(command, outputOf, folder);
  addSecret(command, outputOf);
  addHelp(command);
  return { command, exitCode: () => code };
}

/** A command that has started. */
interface Begun extends Required<ActingOptions> {
  readonly auth: Auth;
  readonly done: Promise<void>;
}

/**
 * Waits for the work, or for the first interrupt, and closes the Auth. A second interrupt ends the process immediately.
 *
 * @returns whether it was interrupted
 */
async function untilInterrupted(
  out: Output,
  begin: (signal: AbortSignal) => Promise<Begun>,
): Promise<boolean> {
  const controller = new AbortController();
  const interrupted = new Promise<true>((resolve) => {
    const stop = () => {
      out.note('Interrupted.');
      controller.abort();
      resolve(true);
    };
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, stop);
  });
  const begun = begin(controller.signal);
  const ended = begun.then(({ done }) => done);
  try {
    const isInterrupted = await Promise.race([ended.then(() => false), interrupted]);
    // Errors of loading the config no longer matter after an interrupt.
    const { endsWithResult } = (await begun.catch(() => null)) ?? {};
    if (isInterrupted && endsWithResult) await ended;
    return isInterrupted;
  } finally {
    out.endProgress();
    // There is no Auth if the config could not be loaded.
    const { auth } = (await begun.catch(() => null)) ?? {};
    await auth?.close();
  }
}

function readEnvironment(file: string): void {
  try {
    loadEnvFile(file);
  } catch (error) {
    throw usageError(`--env-file: ${(error as Error).message}`);
  }
}

/** Adds `latchkey secret`, which does not need a config. */
function addSecret(parent: Command, output: (command: Command) => Output): void {
  parent
    .command('secret')
    .description(
      'Print a new secret for the config: 32 random bytes, as a base64url string. Needs no config.',
    )
    .action((_options, command: Command) => {
      const secret = randomBytes(32).toString('base64url');
      output(command).result({ secret }, secret);
    });
}

/** Adds `latchkey help users create`, which prints the same as `latchkey users create --help`. */
function addHelp(program: Command): void {
  program
    .command('help [command...]')
    .description('Print the help of a command.')
    .action((names: readonly string[]) => {
      const found = names.reduce<Command | undefined>(
        (above, name) => above?.commands.find((one) => one.name() === name),
        program,
      );
      if (!found) throw usageError(`there is no command ${names.join(' ')}: run latchkey help for the list`);
      found.outputHelp();
    });
}
