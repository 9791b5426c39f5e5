// Runs before each spec file. On Node 20 and 22, each AsyncLocalStorage that a process has used slows down every promise
// in it, and a worker's files each load latchkey and parts of Jest anew: those of finished files are taken out of use.
import { AsyncLocalStorage } from 'node:async_hooks';

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
