import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const folder = join(import.meta.dirname, 'pages');
const layout = read('parts/layout');
const forUsers = read('parts/users');
const messages = read('parts/messages');
const shared = {
  messages,
  outcome: read('parts/outcome'),
  confirm: read('parts/confirm'),
  reauthenticate: read('parts/reauthenticate').replaceAll('{{messages}}', messages),
};
const noscript = read('parts/noscript');
const navigations = {
  visitors: read('parts/visitors'),
  users: fill(forUsers, {}),
  administrators: fill(forUsers, { administration: read('parts/administration') }),
};

/** Whose links are shown at the top of a page. */
export type Navigation = keyof typeof navigations;

/** A part of a page. Made by {@link html} only, so that everything in it is escaped. */
export interface Html {
  readonly html: string;
}

/** What a page shows: text, which is escaped, or HTML; and what is hidden. */
export type Values = Readonly<Record<string, boolean | string | Html | readonly Html[]>>;

/** The parts of a page that are not in its own HTML file. */
export interface PageParts {
  readonly title: string;
  /** The page's own script, if any. */
  readonly script?: string | undefined;
  /** Whether the page is of no use without its script. */
  readonly needsScript?: boolean;
  /** The path of the navigation link that leads to this page, if any. */
  readonly path?: string;
}

/** The HTML of a page: its file in pages/, inside the layout of all pages. */
export function composePage(
  name: string,
  { title, script, path, needsScript = false }: PageParts,
): (navigation: Navigation, values?: Values) => string {
  const page = layout
    .replace('{{main}}', () => read(name))
    .replace(
      /{{(messages|outcome|confirm|reauthenticate)}}/g,
      (_, part: keyof typeof shared) => shared[part],
    );
  const parts = {
    title,
    ...(script && { script: `<script type="module" src="/${script}"></script>` }),
    ...(needsScript && { noscript }),
  };
  return (navigation, values = {}) =>
    fill(page, {
      ...Object.fromEntries(Object.entries(values).map(([key, value]) => [key, htmlOf(value)])),
      ...parts,
      navigation: navigations[navigation].replace(`href="${path}"`, '$& aria-current="page"'),
    });
}

/** HTML with values in it. Text is escaped, also for attributes in double quotes. */
export function html(strings: TemplateStringsArray, ...values: (string | Html | readonly Html[])[]): Html {
  return { html: String.raw({ raw: strings }, ...values.map(htmlOf)) };
}

function htmlOf(value: boolean | string | Html | readonly Html[]): string {
  if (typeof value === 'boolean') return value ? 'yes' : '';
  if (typeof value === 'string')
    return value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
  return [value]
    .flat()
    .map((part) => (part as Html).html)
    .join('');
}

/** Not again in what has been filled in, which may contain what users have typed. */
function fill(template: string, parts: Record<string, string>): string {
  return template.replace(/ hidden="{{(\w+)}}"|{{(\w+)}}/g, (_, condition, name) => {
    if (condition) return parts[condition] ? ' hidden' : '';
    return parts[name] ?? '';
  });
}

function read(name: string): string {
  return readFileSync(join(folder, `${name}.html`), 'utf8');
}
