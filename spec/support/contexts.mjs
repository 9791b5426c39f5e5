// Runs before each spec file.
import { AsyncLocalStorage } from 'node:async_hooks';

// Sequelize reads the stack of an error for each statement on SQLite. To find the lines of the source for these took up to a
// sixth of the time of the specs.
// Jest prepares stacks in the outer context, whose classes Node's own modules have.
const outer = AsyncLocalStorage.constructor('return globalThis')();
const plain = (error, frames) => [String(error), ...frames].join('\n    at ');
Error.prepareStackTrace = (error, frames) =>
  !error?.message && frames[0]?.getFileName()?.includes('/sequelize/')
    ? plain(error, frames.slice(0, 3))
    : (outer.Error.prepareStackTrace ?? plain)(error, frames);

// On Node 20 and 22, each AsyncLocalStorage that a process has used slows down every promise
// in it, and a worker's files each load latchkey and parts of Jest anew: those of finished files are taken out of use.
const USED = Symbol.for('latchkey.spec.used');
const { prototype } = AsyncLocalStorage;

if (prototype[USED]) {
  for (const storage of prototype[USED]) storage.disable();
  prototype[USED].clear();
} else {
  const used = new Set();
  prototype[USED] = used;
  const { run } = prototype;
  prototype.run = function (...given) {
    used.add(this);
    return run.apply(this, given);
  };
}
