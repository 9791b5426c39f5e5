// Writes the reference of every entry point that package.json exports, from the TSDoc of lib, to build/reference.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Application } from 'typedoc';

const root = fileURLToPath(new URL('..', import.meta.url));
const { exports } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const names = Object.keys(exports).filter((path) => path !== './package.json');
const fileOf = (path) => path.slice(2) || 'index';

const app = await Application.bootstrapWithPlugins({
  plugin: ['typedoc-plugin-markdown'],
  entryPoints: names.map((path) => `${root}lib/${fileOf(path)}.ts`),
  tsconfig: `${root}tsconfig.esm.json`,
  // `npm run typecheck` reports the errors, with the compiler that the package is built with.
  skipErrorChecking: true,
  logLevel: 'Error',
  readme: 'none',
  name: 'API reference',
  out: fileURLToPath(new URL('build/reference', import.meta.url)),
  outputFileStrategy: 'modules',
  entryFileName: 'README',
  disableSources: true,
  hideBreadcrumbs: true,
  hidePageHeader: true,
  hideGroupHeadings: true,
  useCodeBlocks: true,
  expandParameters: true,
  pageTitleTemplates: { module: ({ name }) => name },
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeAliasPropertiesFormat: 'table',
  enumMembersFormat: 'table',
  indexFormat: 'table',
});
const project = await app.convert();
if (!project) process.exit(1);
for (const entry of project.children)
  entry.name = entry.name === 'index' ? 'latchkey' : `latchkey/${entry.name}`;
await app.generateOutputs(project);
if (app.logger.hasErrors()) process.exit(1);
