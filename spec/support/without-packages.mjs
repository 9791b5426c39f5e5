// Loaded with --import: makes the packages in WITHOUT unavailable, as if they were not installed.
import Module, { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';

const missing = new Set((process.env.WITHOUT ?? '').split(','));

function refuse(name, code) {
  if (missing.has(name)) throw Object.assign(new Error(`Cannot find package '${name}'`), { code });
}

/** For `import`; Node runs this in a separate thread. */
export function resolve(name, context, next) {
  refuse(name, 'ERR_MODULE_NOT_FOUND');
  return next(name, context);
}

// For `require`.
if (isMainThread) {
  const resolveFilename = Module._resolveFilename;
  Module._resolveFilename = function (name, ...rest) {
    refuse(name, 'MODULE_NOT_FOUND');
    return resolveFilename.call(this, name, ...rest);
  };
  register(import.meta.url);
}
