import { type IncomingHttpHeaders, request } from 'node:http';
import { type ParserError, parse, type DefaultTreeAdapterTypes as Tree } from 'parse5';
import { FOR_USER } from '../../lib/pages/controls.js';
import { connections } from './client.js';

type Element = Tree.Element;

const NAVIGATION = {
  accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
  'accept-language': 'en',
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
};

/** A document that a server has sent, as an HTML parser reads it. */
export class Shown {
  readonly document: Tree.Document;

  constructor(
    /** The URL that was requested, or that a form was sent to. */
    readonly url: string,
    readonly status: number,
    readonly headers: IncomingHttpHeaders,
    readonly body: string,
  ) {
    this.document = parse(body);
  }

  /** The errors that a validator would report. The parser takes more than twice as long to keep their lines. */
  get parseErrors(): readonly string[] {
    const errors: string[] = [];
    const onParseError = ({ code, startLine }: ParserError) =>
      void errors.push(`${code} in line ${startLine}`);
    parse(this.body, { onParseError });
    return errors;
  }

  get location(): string | null {
    return this.headers.location ?? null;
  }

  /** The `Set-Cookie` lines. */
  get cookies(): readonly string[] {
    return this.headers['set-cookie'] ?? [];
  }

  get elements(): Element[] {
    return [...elementsIn(this.document)];
  }

  all(tag: string): Element[] {
    return this.elements.filter(({ tagName }) => tagName === tag);
  }

  get title(): string {
    return this.all('title').map(textOf).join();
  }

  get heading(): string {
    return this.all('h1').map(textOf).join();
  }

  /** The text of the main part. */
  get text(): string {
    return this.all('main').map(textOf).join().replace(/\s+/g, ' ').trim();
  }

  /** The text of the summary of errors. Null if there is none. */
  get error(): string | null {
    const summary = this.elements.find((one) => attribute(one, 'data-part') === 'errors');
    return summary ? textOf(summary).replace(/\s+/g, ' ').trim() : null;
  }

  /** The errors beside fields. */
  get fieldErrors(): readonly string[] {
    return this.elements.filter((one) => attribute(one, 'data-part') === 'error').map(textOf);
  }

  /** The URLs of the links in the document, except links to the document's own parts. */
  get links(): string[] {
    return this.all('a')
      .map((one) => attribute(one, 'href') ?? '')
      .filter((href) => !href.startsWith('#'));
  }

  /** The paths that the forms are sent to, also by their second buttons. */
  get actions(): string[] {
    return this.all('form').flatMap(actionsOf);
  }

  /**
   * Returns the form whose action ends with `name`, or the action of one of its buttons. If several forms match, returns
   * the form with these values.
   */
  form(name: string, values: Readonly<Record<string, string>> = {}): FormShown {
    const found = this.all('form')
      .flatMap((one) => actionsOf(one).map((action) => new FormShown(one, action)))
      .filter(({ action }) => action.endsWith(`/${name}`))
      .filter((one) =>
        Object.entries(values).every(([field, value]) => one.has(field) && one.value(field) === value),
      );
    if (found.length !== 1) throw new Error(`${found.length} forms ${name} at ${this.url}: ${this.text}`);
    return found[0]!;
  }
}

/** A form in a document. */
export class FormShown {
  readonly #controls: Element[];
  /** Whether the browser sends the form even if required fields are empty. */
  readonly #isUnchecked: boolean;

  constructor(
    readonly element: Element,
    readonly action = attribute(element, 'action') ?? '',
  ) {
    this.#isUnchecked = attribute(element, 'novalidate') !== undefined;
    this.#controls = [...elementsIn(element)].filter((one) =>
      ['input', 'select', 'textarea'].includes(one.tagName),
    );
  }

  get names(): string[] {
    const names = this.#controls.map((one) => attribute(one, 'name')).filter((name) => name !== undefined);
    // Forms of accounts say whose they are.
    return names.filter((name) => name !== FOR_USER);
  }

  has(name: string): boolean {
    return this.names.includes(name);
  }

  /** Returns an attribute of a control. */
  attribute(field: string, name: string): string | undefined {
    const control = this.#controls.find((one) => attribute(one, 'name') === field);
    if (!control) throw new Error(`no field ${field} in ${this.action}, which has ${this.names}`);
    return attribute(control, name);
  }

  value(field: string): string {
    return new URLSearchParams(this.filled({}, false)).get(field) ?? '';
  }

  /** Fills the form as a user does, and returns what a browser sends (HTML, "constructing the entry list"). */
  filled(fields: Readonly<Record<string, string | boolean>>, isSent = true): URLSearchParams {
    for (const name of Object.keys(fields)) this.attribute(name, 'name');
    const sent = new URLSearchParams();
    for (const control of this.#controls) {
      const name = attribute(control, 'name');
      if (name === undefined) continue;
      const typed = fields[name];
      if (attribute(control, 'type') === 'checkbox') {
        if (typed ?? attribute(control, 'checked') !== undefined)
          sent.append(name, attribute(control, 'value') ?? 'on');
        continue;
      }
      const value = typed === undefined ? initialValue(control) : String(typed);
      if (isSent && !this.#isUnchecked && value === '' && attribute(control, 'required') !== undefined)
        throw new Error(`a browser does not send ${this.action} without ${name}`);
      sent.append(name, value);
    }
    return sent;
  }
}

/** The paths that a form is sent to: its action, and those of its buttons. */
function actionsOf(form: Element): string[] {
  const ofButtons = [...elementsIn(form)].map((one) => attribute(one, 'formaction'));
  return [attribute(form, 'action') ?? '', ...ofButtons.filter((one) => one !== undefined)];
}

function initialValue(control: Element): string {
  if (control.tagName !== 'select') return attribute(control, 'value') ?? '';
  const options = [...elementsIn(control)].filter(({ tagName }) => tagName === 'option');
  const chosen = options.find((one) => attribute(one, 'selected') !== undefined) ?? options[0];
  return (chosen && attribute(chosen, 'value')) ?? '';
}

export function attribute(element: Element, name: string): string | undefined {
  return element.attrs.find((one) => one.name === name)?.value;
}

export function* elementsIn(node: Tree.Node): Generator<Element> {
  const children = 'childNodes' in node ? node.childNodes : [];
  for (const child of children) {
    if ('tagName' in child) yield child;
    yield* elementsIn(child);
  }
}

export function textOf(node: Tree.Node): string {
  if ('value' in node) return node.value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

interface Cookie {
  readonly name: string;
  readonly value: string;
  readonly path: string;
}

/** A browser without JavaScript. It has cookies with their paths, sends forms, and follows redirects on request. */
export class PageBrowser {
  #cookies: Cookie[] = [];
  #at: string | null = null;

  /** @param headers the headers of every request, in place of Firefox's headers */
  constructor(
    private readonly origin: string,
    private readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  get cookies(): readonly Cookie[] {
    return this.#cookies;
  }

  /** Returns a browser that has the same cookies. */
  copy(): PageBrowser {
    const copy = new PageBrowser(this.origin, this.headers);
    copy.#cookies = [...this.#cookies];
    return copy;
  }

  /** Opens a URL. Redirects are not followed. */
  open(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Shown> {
    return this.send('GET', path, null, { 'sec-fetch-site': 'none', ...headers });
  }

  /** Opens a URL, and follows its redirects. */
  async visit(path: string): Promise<Shown> {
    return this.follow(await this.open(path));
  }

  /** Fills and sends a form of a document. The redirect is not followed. */
  submit(
    shown: Shown,
    name: string,
    fields: Readonly<Record<string, string | boolean>> = {},
    having: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const form = shown.form(name, having);
    this.#at = shown.url;
    return this.post(form.action, form.filled(fields));
  }

  /** Sends a form, as a page of this origin does. */
  post(
    path: string,
    form: URLSearchParams | Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const body = form instanceof URLSearchParams ? form : new URLSearchParams(form);
    return this.send('POST', path, String(body), {
      origin: this.origin,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
      ...(this.#at !== null && { referer: this.origin + this.#at }),
      ...headers,
    });
  }

  /** Follows the redirects of a response. */
  async follow(answer: Shown): Promise<Shown> {
    let at = answer;
    for (let hops = 0; at.location !== null; hops++) {
      if (hops > 9) throw new Error(`redirected too often, at last to ${at.location}`);
      const { origin, pathname, search } = new URL(at.location, this.origin);
      if (origin !== this.origin) throw new Error(`redirected to ${at.location}`);
      at = await this.open(pathname + search, { 'sec-fetch-site': 'same-origin' });
    }
    return at;
  }

  /** Sends a request. A header that is empty is left out. */
  async send(
    method: string,
    path: string,
    body: string | null = null,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Shown> {
    const cookie = this.#cookies
      .filter((one) => isWithin(path, one.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const given: Record<string, string> = { ...NAVIGATION, cookie, ...this.headers, ...headers };
    const all = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
    const answer = await new Promise<Shown>((resolve, reject) => {
      const { hostname, port } = new URL(this.origin);
      const sent = request({ hostname, port, method, path, headers: all, agent: connections }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () =>
          resolve(
            new Shown(path, response.statusCode ?? 0, response.headers, Buffer.concat(chunks).toString()),
          ),
        );
      });
      sent.on('error', reject);
      if (body !== null) sent.setHeader('content-length', Buffer.byteLength(body));
      sent.end(body ?? undefined);
    });
    for (const line of answer.cookies) this.#keep(line, path);
    if (answer.location === null && method === 'GET') this.#at = path;
    return answer;
  }

  #keep(line: string, at: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const attributeOf = (wanted: string) =>
      attributes.find((one) => one.toLowerCase().startsWith(`${wanted}=`))?.slice(wanted.length + 1);
    const path = attributeOf('path') ?? (at.replace(/\/[^/]*$/, '') || '/');
    const expires = attributeOf('expires');
    const isOver = attributeOf('max-age') === '0' || (expires && Date.parse(expires) < Date.now());
    this.#cookies = this.#cookies.filter((one) => one.name !== name || one.path !== path);
    if (!isOver) this.#cookies.push({ name, value, path });
  }
}

function isWithin(path: string, folder: string): boolean {
  const [plain = ''] = path.split(/[?#]/);
  return plain === folder || plain.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}
