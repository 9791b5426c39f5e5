// Builds the site of the documentation from docs, the READMEs and the TSDoc, in site/dist. Any web server can serve that
// folder. A link to a page that does not exist fails the build. Installs the packages of site first, if they are missing.
//
//   npm run docs:site
//   npm run docs:site -- --base /latchkey/     other arguments are passed to `vitepress build`
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const folder = new URL('../site/', import.meta.url);
const npm = (...args) => execFileSync('npm', args, { cwd: fileURLToPath(folder), stdio: 'inherit' });

if (!existsSync(new URL('node_modules/.package-lock.json', folder)))
  npm('ci', '--ignore-scripts', '--no-fund', '--no-audit');
npm('run', '--silent', 'build', '--', ...process.argv.slice(2));
