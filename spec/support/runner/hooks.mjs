// What specs import, where Node would find something else: Jest's functions, and Express 4 in place of Express 5.
const globals = new URL('globals.mjs', import.meta.url).href;

export function resolve(specifier, context, next) {
  if (specifier === '@jest/globals') return { url: globals, format: 'module', shortCircuit: true };
  const isOther = specifier === 'express' && process.env.LATCHKEY_SPEC_EXPRESS === '4';
  return next(isOther ? 'express4' : specifier, context);
}
