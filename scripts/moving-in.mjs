// Writes the code of examples/ejs-forms into docs/moving-in.md: each ```diff block is the difference of a file before and
// after the move, and each ```js block that begins with a file's name is that file.
//
//   node scripts/moving-in.mjs            updates the page
//   node scripts/moving-in.mjs --check    fails if the page is not up to date
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const example = `${root}examples/ejs-forms`;
const page = `${root}docs/moving-in.md`;

function difference(file) {
  const [before, after] = ['before', 'after'].map((state) => `${state}/${file}`);
  const args = ['-u', '--label', before, '--label', after, before, after];
  const { stdout, status } = spawnSync('diff', args, { cwd: example, encoding: 'utf8' });
  if (status !== 1) throw new Error(`diff ${before} ${after} ended with ${status}`);
  return stdout;
}

const written = readFileSync(page, 'utf8');
const current = written
  .replace(
    /^```diff\n--- before\/(\S+)\n[\s\S]*?^```$/gm,
    (_, file) => `\`\`\`diff\n${difference(file)}\`\`\``,
  )
  .replace(/^```js\n\/\/ (after\/\S+)\n[\s\S]*?^```$/gm, (_, file) => {
    return `\`\`\`js\n// ${file}\n${readFileSync(`${example}/${file}`, 'utf8')}\`\`\``;
  });
if (process.argv.includes('--check')) {
  if (current !== written) {
    console.error('docs/moving-in.md is not up to date: run node scripts/moving-in.mjs');
    process.exit(1);
  }
} else writeFileSync(page, current);
