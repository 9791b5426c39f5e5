import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'pages');
const layout = read('parts/layout');
const forUsers = read('parts/users');
const shared = { messages: read('parts/messages'), confirm: read('parts/confirm') };
const noscript = read('parts/noscript');
const navigations = {
  visitors: read('parts/visitors'),
  users: fill(forUsers, {}),
  administrators: fill(forUsers, { administration: read('parts/administration') }),
};

/** Whose links are shown at the top of a page. */
export type Navigation = keyof typeof navigations;

/** The parts of a page that are not in its own HTML file. */
export interface PageParts {
  readonly title: string;
  /** The page's own script, if any. */
  readonly script?: string;
  /** The path of the navigation link that leads to this page, if any. */
  readonly path?: string;
  /** What went wrong, for the error page. */
  readonly detail?: string;
}

/** The HTML of a page: its file in pages/, inside the layout of all pages. */
export function composePage(
  name: string,
  { title, script, path, detail = '' }: PageParts,
): (navigation: Navigation) => string {
  const template = layout.replace('{{main}}', () => read(name));
  const parts = {
    ...shared,
    title,
    detail,
    ...(script && { script: `<script type="module" src="/${script}"></script>`, noscript }),
  };
  return (navigation) =>
    fill(template, {
      ...parts,
      navigation: navigations[navigation].replace(`href="${path}"`, '$& aria-current="page"'),
    });
}

/** The parts are the app's own text. Pages insert user input by script, as text and not as HTML. */
function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/{{(\w+)}}/g, (_, name) => parts[name] ?? '');
}

function read(name: string): string {
  return readFileSync(join(folder, `${name}.html`), 'utf8');
}
