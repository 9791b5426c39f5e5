// A small HTTP client with cookies.
import { Agent, request } from 'node:http';

/**
 * @typedef {object} Answer
 * @property {string} asked the method and the path, without secrets
 * @property {number} status
 * @property {any} body of JSON; null if there is none
 * @property {string | null} location where it redirects to
 */

/** The cookies of one browser. */
export class Browser {
  /** @type {Map<string, string>} */
  cookies = new Map();

  /** The value of the Cookie header. */
  get header() {
    return [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  }

  /** Keeps what a response sets, and forgets what it clears. */
  take(lines) {
    for (const line of lines) {
      const [pair, ...attributes] = line.split('; ');
      const name = pair.slice(0, pair.indexOf('='));
      const isOver = attributes.some(
        (one) =>
          /^max-age=0$/i.test(one) || (/^expires=/i.test(one) && Date.parse(one.slice(8)) < Date.now()),
      );
      if (isOver) this.cookies.delete(name);
      else this.cookies.set(name, pair.slice(name.length + 1));
    }
  }
}

/** Sends requests to one server, over connections that are kept. */
export class Client {
  /** @type {Agent} */
  #agent;
  #port;

  /** @param {number} port @param {number} connections at most */
  constructor(port, connections) {
    this.#port = port;
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /**
   * @param {string} method
   * @param {string} path
   * @param {{ browser?: Browser, cookie?: string, key?: string, body?: object }} [carried] `cookie` is sent as it is, and
   *   what the response sets is dropped
   * @returns {Promise<Answer>}
   */
  send(method, path, { browser, cookie = browser?.header, key, body } = {}) {
    const text = body && JSON.stringify(body);
    const headers = {
      ...(cookie && { cookie }),
      ...(key && { 'x-service-api-key': key }),
      ...(text && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: this.#port, agent: this.#agent, method, path, headers };
      const sent = request(options, (response) => {
        const chunks = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.once('error', reject);
        response.once('end', () => {
          browser?.take(response.headers['set-cookie'] ?? []);
          const received = Buffer.concat(chunks).toString();
          const isJson = /json/.test(response.headers['content-type'] ?? '');
          const { statusCode: status = 0, headers } = response;
          const body = isJson ? JSON.parse(received) : null;
          resolve({ asked: `${method} ${path}`, status, body, location: headers.location ?? null });
        });
      });
      sent.once('error', reject);
      sent.end(text);
    });
  }

  close() {
    this.#agent.destroy();
  }
}
