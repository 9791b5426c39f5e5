import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import type { Command } from 'commander';
import type { Acting, Call } from './call.js';
import { counted, usageError } from './output.js';

/** Adds `latchkey openapi`. */
export function addOpenapi(parent: Command, acting: Acting): void {
  parent
    .command('openapi')
    .description('Print the OpenAPI document of the enabled routes, as JSON.')
    .option('--out <file>', 'write the document to this file instead; an existing file is replaced')
    .action(acting(printDocument));
}

async function printDocument({ auth, out, options }: Call): Promise<void> {
  const { out: given } = options as { out?: string };
  const document = auth.openapi();
  const json = JSON.stringify(document, null, 2);
  if (given === undefined) {
    out.result(document, json);
    return;
  }
  const file = resolve(given);
  try {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, `${json}\n`);
  } catch (error) {
    throw usageError(`--out: ${(error as Error).message}`);
  }
  const operations = Object.values(document.paths).flatMap(Object.keys).length;
  out.result(
    { file, operations },
    `Wrote the OpenAPI document with ${counted(operations, 'operation')} to ${relative(process.cwd(), file)}`,
  );
}
