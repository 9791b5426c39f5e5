// Lists the licence of every package that an app gets with this one: its dependencies, their dependencies, and its peers; and
// those whose code is in the published files, as the bundler says. Fails if one has no licence, or one that is not in the
// list below, such as a copyleft licence.
//
//   npm run licences
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

// Permissive ones, by their SPDX identifiers (https://spdx.org/licenses/).
const ALLOWED = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  'Zlib',
]);

const root = resolve(process.argv[2] ?? fileURLToPath(new URL('..', import.meta.url)));
const { packages } = readJson('package-lock.json');
const { bundle } = await import(pathToFileURL(join(root, 'scripts/bundle.mjs')).href);

const found = new Set();
visit('', { ...packages[''].dependencies, ...packages[''].peerDependencies });
const [installed, bundled] = [describe(found), describe(await bundle())];
for (const { text } of installed) console.log(text);
console.log('\nIn the published files:');
for (const { text } of bundled) console.log(text);
const refused = [...installed, ...bundled].filter((line) => !line.isAllowed);
if (refused.length > 0) {
  console.error(`\nNot allowed:\n${refused.map(({ text }) => text).join('\n')}`);
  console.error('Use another package, or add the licence to scripts/licences.mjs if it is permissive.');
  process.exitCode = 1;
} else
  console.log(
    `\n${installed.length} packages, and ${bundled.length} in the published files, all with permissive licences`,
  );

/** @param folders of packages */
function describe(folders) {
  const lines = [...folders].map((path) => {
    const licence = licenceOf(path);
    const name = path.replace(/^.*node_modules\//, '');
    return {
      text: `${name}@${packages[path].version}: ${licence ?? 'none'}`,
      isAllowed: licence !== null && isAllowed(licence),
    };
  });
  return lines.sort((a, b) => (a.text < b.text ? -1 : 1));
}

/** Follows dependencies as Node finds them: in the folder of the package that needs them, or above it. */
function visit(from, wanted) {
  for (const name of Object.keys(wanted)) {
    const path = foldersAbove(from)
      .map((folder) => `${folder}node_modules/${name}`)
      .find((one) => packages[one]);
    // Optional ones of another platform are not there.
    if (path === undefined || found.has(path)) continue;
    const { dependencies, optionalDependencies, peerDependencies } = packages[path];
    found.add(path);
    visit(path, { ...dependencies, ...optionalDependencies, ...peerDependencies });
  }
}

function foldersAbove(path) {
  if (path === '') return [''];
  const parent = path.slice(0, Math.max(path.lastIndexOf('/node_modules/'), 0));
  return [`${path}/`, ...foldersAbove(parent)];
}

/** What the lockfile says, or the package itself. Null if neither names a licence. */
function licenceOf(path) {
  const { license } = packages[path];
  if (license) return license;
  try {
    const { license: own, licenses } = readJson(join(path, 'package.json'));
    return own?.type ?? own ?? licenses?.map(({ type }) => type).join(' OR ') ?? null;
  } catch {
    return null;
  }
}

/** Whether an SPDX expression allows a permissive choice. */
function isAllowed(licence) {
  const choices = licence.replace(/[()]/g, '').split(' OR ');
  return choices.some((choice) => choice.split(' AND ').every((one) => ALLOWED.has(one.trim())));
}

function readJson(path) {
  return JSON.parse(readFileSync(join(root, path), 'utf8'));
}
