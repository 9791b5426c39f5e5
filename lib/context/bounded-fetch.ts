const MAX_BYTES = 1024 * 1024;

export type Fetch = (url: string, options?: object) => Promise<Response>;

/**
 * Creates a `fetch` for servers that might be broken or malicious. It does not follow redirects, and reads at most 1
 * MiB. The signal also aborts reading the body.
 */
export function boundedFetch(signal: AbortSignal): Fetch {
  return async (url, options) => {
    const response = await fetch(url, { ...options, redirect: 'manual', signal });
    const chunks: Uint8Array[] = [];
    let length = 0;
    // Throwing out of the loop cancels the stream and closes the connection.
    for await (const chunk of response.body ?? []) {
      length += chunk.byteLength;
      if (length > MAX_BYTES) throw new Error(`the response is larger than ${MAX_BYTES} bytes`);
      chunks.push(chunk);
    }
    const { status, statusText, headers } = response;
    const mayHaveBody = status !== 204 && status !== 205 && status !== 304;
    return new Response(mayHaveBody ? Buffer.concat(chunks) : null, { status, statusText, headers });
  };
}
