import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
// Loads the plugins, which declare options of their own.
import '../../lib/index.js';

const lib = fileURLToPath(new URL('../../lib', import.meta.url));

/** The files of the library. */
export const sources = new Map(
  readdirSync(lib, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path.replaceAll('\\', '/'), readFileSync(`${lib}/${path}`, 'utf8')]),
);

/** The schemas of options: `export const name = schemaOf<Options>()`, or a function that makes one. */
export const schemas = [...sources].flatMap(([file, source]) =>
  [...source.matchAll(/export const (\w+) =(?: \(\) =>)?\s+schemaOf<(\w+)>\(\)/g)].map(
    ([, name = '', options = '']) => ({ file, name, options }),
  ),
);

/** A schema of options. */
export async function schemaIn(
  file: string,
  name: string,
): Promise<z.ZodObject<Readonly<Record<string, z.ZodType>>>> {
  const module = (await import(`../../lib/${file.replace(/\.ts$/, '.js')}`)) as Record<string, unknown>;
  const made = module[name];
  return (typeof made === 'function' ? made() : made) as z.ZodObject<Record<string, z.ZodType>>;
}
