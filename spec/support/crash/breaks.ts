import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

const root = resolve(import.meta.dirname, '../../..');

/** A fault in the code, which the crash test must find. */
export interface Break {
  readonly name: string;
  /** What is wrong then. */
  readonly what: string;
  /** Below `lib`. */
  readonly file: string;
  /** Texts of the file, each of which is there exactly once, and what stands there instead. */
  readonly edits: readonly (readonly [text: string, replacement: string])[];
}

export const BREAKS: readonly Break[] = [];

/** The text of the file with the fault in it. @throws Error if a text is not there any more, or more than once */
export function applied({ name, file, edits }: Break, source: string): string {
  return edits.reduce((text, [before, after]) => {
    const found = text.split(before).length - 1;
    if (found !== 1)
      throw new Error(
        `the break ${name} does not fit lib/${file} any more: it replaces a text that is there ${found} times, ${JSON.stringify(before)}`,
      );
    return text.replace(before, () => after);
  }, source);
}

/** Puts a fault into the code while it is bundled. The files stay as they are. */
export function breaking(broken: Break): Plugin {
  const path = join(root, 'lib', broken.file);
  return {
    name: 'break',
    setup(build) {
      let isApplied = false;
      build.onLoad({ filter: /\.ts$/ }, async (loaded) => {
        if (loaded.path !== path) return null;
        isApplied = true;
        return { contents: applied(broken, await readFile(path, 'utf8')), loader: 'ts' };
      });
      build.onEnd(() => {
        if (!isApplied) throw new Error(`the break ${broken.name}: the app does not use lib/${broken.file}`);
      });
    },
  };
}
