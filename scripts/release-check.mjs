// Names everything that is missing for a release of the package. It publishes nothing.
//
//   npm run release:check
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const manifest = JSON.parse(read('package.json') ?? '{}');
const { version, files = [] } = manifest;
const changes = read('CHANGELOG.md') ?? '';
const unreleased = changes.split(/^## /m).find((section) => section.startsWith('[Unreleased]'));

const DATED = /^## \[(.*)\] - \d{4}-\d{2}-\d{2}$/;
const FIELDS = ['name', 'version', 'description', 'license', 'author', 'homepage', 'repository', 'bugs'];
const missing = [
  ...FIELDS.filter((name) => !manifest[name]).map((name) => `package.json has no ${name}`),
  ...(manifest.private ? ['package.json is private'] : []),
  ...['README.md', 'LICENSE', 'SECURITY.md', 'CHANGELOG.md']
    .filter((name) => !existsSync(join(root, name)))
    .map((name) => `there is no ${name}`),
  // npm adds the README and the licence itself.
  ...['SECURITY.md', 'CHANGELOG.md']
    .filter((name) => !files.includes(name))
    .map((name) => `files in package.json does not include ${name}`),
  ...(JSON.parse(read('package-lock.json') ?? '{}').version === version
    ? []
    : ['package-lock.json has another version than package.json']),
  ...(changes.split('\n').some((line) => DATED.exec(line)?.[1] === version)
    ? []
    : [`CHANGELOG.md has no section "## [${version}] - <date>"`]),
  ...(unreleased?.slice('[Unreleased]'.length).trim()
    ? ['CHANGELOG.md has changes under Unreleased: move them to the section of the version']
    : []),
  ...['README.md', 'SECURITY.md', 'CHANGELOG.md', 'docs/start.md', 'docs/moving-in.md'].flatMap((name) =>
    /not published on npm yet|Nothing has been released yet/.test(read(name) ?? '')
      ? [`${name} says that nothing has been published`]
      : [],
  ),
  ...notCommitted(),
];

for (const line of missing) console.error(line);
if (missing.length > 0) process.exitCode = 1;
else
  console.log(
    `Nothing is missing for ${manifest.name} ${version}. Next: npm run check-package, npm test -- --all`,
  );

/** The text of a file, or null. */
function read(name) {
  return existsSync(join(root, name)) ? readFileSync(join(root, name), 'utf8') : null;
}

/** A released version can only be found again if it is a commit. */
function notCommitted() {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (status !== 0) return ['this is not a clone: release from one'];
  return stdout ? [`git has changes that are not committed:\n${stdout.trimEnd()}`] : [];
}
