/** A response, as a browser sees it. */
export interface Seen {
  readonly status: number;
  readonly body: Record<string, never> & { user?: { id: string; email: string } | null; code?: string };
  readonly location: string | null;
  /** The `Set-Cookie` lines. */
  readonly cookies: readonly string[];
  readonly headers: Headers;
}

/** A browser that visits several apps on one host, which share its cookies. */
export class CookieJar {
  readonly cookies = new Map<string, string>();

  /** @param init `keeps: false` loses the response's cookies, as if it had not arrived */
  async visit(
    url: string,
    {
      method = 'GET',
      body,
      headers = {},
      keeps = true,
    }: { method?: string; body?: unknown; headers?: Record<string, string>; keeps?: boolean } = {},
  ): Promise<Seen> {
    const isForm = body instanceof URLSearchParams;
    const response = await fetch(url, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookies.size > 0 && { cookie: this.header }),
        ...(body !== undefined && !isForm && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const cookies = response.headers.getSetCookie();
    if (keeps) this.keep(cookies);
    const text = await response.text();
    const isJson = /json/.test(response.headers.get('content-type') ?? '');
    return {
      status: response.status,
      body: isJson && text ? JSON.parse(text) : {},
      location: response.headers.get('location'),
      cookies,
      headers: response.headers,
    };
  }

  get header(): string {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  keep(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = '', ...attributes] = line.split(/; ?/);
      const name = pair.slice(0, pair.indexOf('='));
      const expires = attributes.find((one) => /^expires=/i.test(one))?.slice(8);
      const maxAge = attributes.find((one) => /^max-age=/i.test(one))?.slice(8);
      const isGone = maxAge === '0' || (maxAge === undefined && expires && Date.parse(expires) <= Date.now());
      if (isGone) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(pair.indexOf('=') + 1));
    }
  }
}
