import { CommanderError } from 'commander';
import { describeFailure, EXIT, Refusal } from './failure.js';
import { Output, type Streams } from './output.js';
import { createProgram } from './program.js';

/**
 * Runs the command line.
 *
 * @param args without Node and the script
 * @returns the exit code
 */
export async function run(
  args: readonly string[],
  version: string,
  streams: Streams = process,
): Promise<number> {
  const program = createProgram(streams, version);
  try {
    await program.command.parseAsync([...args], { from: 'user' });
    return program.exitCode();
  } catch (error) {
    // It has printed what is wrong, or the help.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage;
    new Output(streams, args.includes('--json')).failure(describeFailure(error));
    return error instanceof Refusal ? error.exitCode : EXIT.failed;
  }
}
