// Writes dist/eject/: the function of each page that `latchkey pages eject` copies into an app, with all that it calls, as
// TypeScript and as JavaScript. They are made from the sources, so that an ejected page has their names and comments.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from '@babel/parser';
import babelTraverse from '@babel/traverse';
import { transformSync } from 'amaro';

const root = fileURLToPath(new URL('..', import.meta.url));
const traverse = babelTraverse.default;

/** The function that renders each page. */
const VIEWS = {
  'sign-in': ['entrance/sign-in', 'signInView'],
  'sign-in/email': ['entrance/emailed-sign-in', 'emailedSignInView'],
  'sign-in/passkey': ['entrance/passkey-offer', 'passkeyOfferView'],
  'sign-up': ['entrance/sign-up', 'signUpView'],
  'sign-out': ['entrance/sign-out', 'signOutView'],
  'second-factor': ['entrance/second-factor', 'secondFactorView'],
  reauthenticate: ['entrance/reauthenticate', 'reauthenticateView'],
  'forgot-password': ['entrance/passwords', 'forgotPasswordView'],
  'reset-password': ['entrance/passwords', 'resetPasswordView'],
  invitation: ['entrance/passwords', 'resetPasswordView'],
  join: ['entrance/join', 'joinView'],
  'verify-email': ['entrance/emails', 'verifyEmailView'],
  'change-email': ['entrance/emails', 'changeEmailView'],
  'undo-change': ['entrance/undo-change', 'undoChangeView'],
  account: ['account/profile', 'accountView'],
  'account/security': ['account/security/page', 'securityView'],
  'account/security/second-factor': ['account/security/enrolment', 'enrolmentView'],
  'account/sessions': ['account/sessions', 'sessionsView'],
  'account/api-keys': ['account/api-keys', 'keysView'],
  'account/organizations': ['account/organizations', 'organizationsView'],
  'account/organizations/organization': ['account/organization', 'organizationView'],
  'administration/users': ['administration/users', 'usersView'],
  'administration/users/user': ['administration/user-view', 'userView'],
};

/** The modules that were read, by their paths. */
const modules = new Map();

/** The entry points from which an app imports a declaration instead of copying it, by its module and its name. */
const published = new Map(
  [
    ['index.ts', 'latchkey'],
    ['pages.ts', 'latchkey/pages'],
  ].flatMap(([entry, from]) =>
    moduleOf(join(root, 'lib', entry)).exports.map(({ file, name }) => [`${file} ${name}`, from]),
  ),
);

const folder = join(root, 'dist/eject');
mkdirSync(folder, { recursive: true });
for (const [page, [module, view]] of Object.entries(VIEWS)) {
  const parts = partsOf(page, join(root, `lib/pages/${module}.ts`), view);
  const file = join(folder, page.replaceAll('/', '-'));
  writeFileSync(`${file}.ts`, formatted(sourceOf(parts), 'ts'));
  const values = parts.filter(({ isType }) => !isType);
  writeFileSync(`${file}.js`, formatted(transformSync(sourceOf(values), { mode: 'strip-only' }).code, 'js'));
}

/** Returns the parts of an ejected page: its imports, the function of the page, and the declarations that it needs. */
function partsOf(page, file, view) {
  const function_ = page.replace(/[/-](\w)/g, (_all, letter) => letter.toUpperCase());
  const copied = new Map();
  const imported = new Map();
  copy(file, view, copied, imported);
  copy(join(root, 'lib/pages/layout.ts'), 'mainOf', copied, imported);
  copy(join(root, 'lib/pages/values.ts'), 'RenderedPageOf', copied, imported);
  if (copied.has(function_)) throw new Error(`${page}: the pages have another function ${function_}`);
  const main = `/** Renders the content of the page \`${page}\`, for the option \`render\` of \`pages()\`. */
export function ${function_}({ values, words }: RenderedPageOf<'${page}'>): Html {
  return mainOf(values, ${view}(values, words), words);
}`;
  return [{ text: importsOf(imported) }, { text: main }, ...copied.values()];
}

function importsOf(imported) {
  return [...new Set(published.values())]
    .map((entry) => [entry, [...imported].filter(([, { from }]) => from === entry)])
    .filter(([, found]) => found.length > 0)
    .map(([entry, found]) => {
      const isTypes = found.every(([, { isType }]) => isType);
      const names = found.sort(([one], [other]) => one.localeCompare(other));
      const list = names.map(([name, { isType }]) => (isType && !isTypes ? `type ${name}` : name));
      return `import ${isTypes ? 'type ' : ''}{ ${list.join(', ')} } from '${entry}';`;
    })
    .join('\n');
}

function sourceOf(parts) {
  return `${parts.map(({ text }) => text).join('\n\n')}\n`;
}

/** Adds a declaration, and then those that it refers to. */
function copy(file, name, copied, imported) {
  const module = moduleOf(file);
  const declaration = module.declarations.get(name);
  if (!declaration) {
    const found = module.imports.get(name);
    if (!found) throw new Error(`${relative(root, file)} does not declare ${name}`);
    if (found.file === null) throw new Error(`${relative(root, file)}: ${name} is of another package`);
    if (found.name !== name) throw new Error(`${relative(root, file)} imports ${found.name} by another name`);
    copy(found.file, name, copied, imported);
    return;
  }
  const from = published.get(`${file} ${name}`);
  if (from) {
    imported.set(name, { from, isType: declaration.isType });
    return;
  }
  const known = copied.get(name);
  if (known && known.file !== file)
    throw new Error(`${name} is declared in ${relative(root, known.file)} and in ${relative(root, file)}`);
  if (known) return;
  copied.set(name, { file, text: declaration.text, isType: declaration.isType });
  for (const one of declaration.references)
    if (module.declarations.has(one) || module.imports.has(one)) copy(file, one, copied, imported);
}

/** Reads a module: what it declares at its top, what it imports, and what it exports from other modules. */
function moduleOf(file) {
  const known = modules.get(file);
  if (known) return known;
  const source = readFileSync(file, 'utf8');
  const tree = parse(source, { sourceType: 'module', plugins: ['typescript'] });
  const module = { declarations: new Map(), imports: new Map(), exports: [] };
  modules.set(file, module);
  const pathOf = (from) => (from.startsWith('.') ? join(dirname(file), from.replace(/\.js$/, '.ts')) : null);
  traverse(tree, {
    Program(program) {
      for (const statement of program.get('body')) {
        const { node } = statement;
        if (node.type === 'ImportDeclaration')
          for (const { local, imported } of node.specifiers)
            module.imports.set(local.name, { file: pathOf(node.source.value), name: imported?.name });
        else if (node.type === 'ExportNamedDeclaration' && node.source)
          for (const { local } of node.specifiers)
            module.exports.push({ file: pathOf(node.source.value), name: local.name });
        else add(statement, module.declarations, source);
      }
    },
  });
  return module;
}

/** Adds the declaration of a statement, with the names from the top of its module that it refers to. */
function add(statement, declarations, source) {
  const isExported = statement.isExportNamedDeclaration();
  const { node } = isExported ? statement.get('declaration') : statement;
  const name = node?.id?.name ?? node?.declarations?.[0]?.id?.name;
  if (name === undefined) return;
  const start = statement.node.leadingComments?.findLast(({ type }) => type === 'CommentBlock')?.start;
  const text = source
    .slice(start ?? statement.node.start, statement.node.end)
    .replace(/^export /m, '')
    .replace(/^\/\*\* @internal \*\/\n|\n \*\n \* @internal(?=\n \*\/)/, '');
  const references = new Set();
  const program = statement.scope.getProgramParent();
  statement.traverse({
    Identifier(path) {
      const one = path.node.name;
      // Types have no bindings.
      const isType = [
        'TSTypeReference',
        'TSInterfaceHeritage',
        'TSExpressionWithTypeArguments',
        'TSTypeQuery',
      ];
      const isValue =
        path.isReferencedIdentifier() &&
        path.listKey !== 'parameters' &&
        path.scope.getBinding(one)?.scope === program;
      if (one !== name && (isValue || isType.includes(path.parent.type))) references.add(one);
    },
  });
  declarations.set(name, { text, references, isType: node.type.startsWith('TS') });
}

function formatted(code, extension) {
  const biome = join(root, 'node_modules/@biomejs/biome/bin/biome');
  const given = ['format', `--stdin-file-path=page.${extension}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [biome, ...given], {
    cwd: root,
    encoding: 'utf8',
    input: code,
  });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}
