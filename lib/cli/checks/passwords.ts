import type { Core } from '../../core/core.js';
import { MAX_RUNNING } from '../../crypto/hash-queue.js';
import { describeFailure } from '../output.js';
import { type Finding, ok, problem } from './finding.js';

/** Checks how passwords are hashed. Nothing is found if users cannot have one. */
export async function* checkPasswords({ passwords }: Core): AsyncGenerator<Finding> {
  if (!passwords) return;
  const check = 'passwords';
  const { description, memory } = passwords.hasher.own;
  try {
    await passwords.load();
  } catch (error) {
    yield problem(
      check,
      describeFailure(error).message,
      'install the package, or remove hash from the config',
    );
    return;
  }
  const limit = `${description}, at most ${MAX_RUNNING} at the same time`;
  yield ok(
    check,
    memory === null ? limit : `${limit}, which need ${inMebibytes(memory * MAX_RUNNING)} of memory`,
  );
}

function inMebibytes(kibibytes: number): string {
  return `${Math.ceil(kibibytes / 1024)} MiB`;
}
