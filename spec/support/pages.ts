/** The response of a server to a browser or a program. */
export interface Answer {
  readonly request: string;
  readonly status: number;
  readonly location: string | null;
  readonly type: string | null;
  readonly body: string;
}

/** A client with a cookie jar. It sends forms like a browser without scripts, and does not follow redirects. */
export class Visitor {
  readonly #cookies = new Map<string, string>();

  constructor(
    private readonly origin: string,
    private readonly headers: Record<string, string> = {},
  ) {}

  /** The cookies as a browser would send them. */
  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  get(path: string): Promise<Answer> {
    return this.send('GET', path);
  }

  /** Sends a form. */
  post(path: string, form: Record<string, string> = {}): Promise<Answer> {
    return this.send('POST', path, new URLSearchParams(form));
  }

  async send(
    method: string,
    path: string,
    body?: URLSearchParams | string,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const response = await fetch(this.origin + path, {
      method,
      redirect: 'manual',
      headers: { cookie: this.cookie, ...this.headers, ...headers },
      ...(body !== undefined && { body }),
    });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return {
      request: `${method} ${path}`,
      status: response.status,
      location: response.headers.get('location'),
      type: response.headers.get('content-type'),
      body: await response.text(),
    };
  }

  #keep(line: string): void {
    const [pair = '', ...attributes] = line.split(/; */);
    const [name = '', value = ''] = pair.split(/=(.*)/s);
    const expires = attributes.find((one) => /^expires=/i.test(one))?.slice(8);
    const isOver =
      attributes.some((one) => /^max-age=0$/i.test(one)) || (expires && Date.parse(expires) < Date.now());
    if (isOver || value === '') this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }
}
