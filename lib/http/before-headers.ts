import type { ServerResponse } from 'node:http';

/** Calls `act` with the status just before the headers of a response are sent, when the app has set all of them. */
export function beforeHeaders(res: ServerResponse, act: (status: number) => void): void {
  const writeHead = res.writeHead.bind(res) as (status: number, ...rest: unknown[]) => ServerResponse;
  res.writeHead = (status: number, ...rest: unknown[]) => {
    if (res.headersSent) return writeHead(status, ...rest) as never;
    // Passed on, they would replace what `act` sets, such as its Cache-Control.
    const headers = pairsOf(rest.find((one) => typeof one === 'object'));
    for (const [name] of headers) res.removeHeader(name);
    for (const [name, value] of headers) res.appendHeader(name, value);
    act(status);
    return writeHead(status, ...rest.filter((one) => typeof one === 'string')) as never;
  };
}

/** Whether a response sets or clears a cookie. */
export function setsCookie(res: ServerResponse, name: string): boolean {
  return [res.getHeader('set-cookie') ?? []].flat().some((cookie) => String(cookie).startsWith(`${name}=`));
}

type Header = readonly [name: string, value: string | readonly string[]];

/** The headers that `writeHead` was given: an object, a list of pairs, or a list of names and values in turns. */
function pairsOf(headers: unknown): readonly Header[] {
  if (!Array.isArray(headers)) return Object.entries(headers ?? {});
  if (Array.isArray(headers[0])) return headers;
  return headers.flatMap((name, index) => (index % 2 === 0 ? [[name, headers[index + 1]]] : []));
}
