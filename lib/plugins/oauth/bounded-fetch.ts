const MAX_BYTES = 1024 * 1024;

export type Fetch = (url: string, options?: object) => Promise<Response>;

/**
 * `fetch` for a provider that may be broken or hostile: it follows no redirect, reads at most 1 MiB, and is aborted by the
 * signal, however slowly the response arrives.
 */
export function boundedFetch(signal: AbortSignal): Fetch {
  return async (url, options) => {
    const response = await fetch(url, { ...options, redirect: 'manual', signal });
    const chunks: Uint8Array[] = [];
    let length = 0;
    // Leaving the loop early cancels the stream, and with it the connection.
    for await (const chunk of response.body ?? []) {
      length += chunk.byteLength;
      if (length > MAX_BYTES) throw new Error(`the provider answered with more than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const { status, statusText, headers } = response;
    const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(mayHaveBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
  };
}
