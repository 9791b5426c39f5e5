import { DEFAULT_BASE_PATH, type Settings } from '../config/config.js';

const PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

/**
 * Where the routes are below `baseUrl`: at `httpBasePath` or, if it is not configured, where a request has shown that the
 * router is mounted. Express does not reveal the mount path before a request.
 */
export class BasePath {
  #shown: string | null = null;
  #isAssumed = false;
  #hasWarned = false;

  constructor(private readonly settings: Pick<Settings, 'httpBasePath' | 'log'>) {}

  /** The path, as far as it is known. */
  get known(): string {
    return this.settings.httpBasePath ?? this.#shown ?? DEFAULT_BASE_PATH;
  }

  /** Returns the path for a URL that leaves the app, and would be wrong if the router is elsewhere. */
  use(): string {
    this.#isAssumed ||= this.settings.httpBasePath === null && this.#shown === null;
    return this.known;
  }

  /** Takes note of where the router serves a request, and warns once if URLs lead elsewhere. */
  show(path: string): void {
    if (path === this.#shown) return;
    // A mount path with parameters contains what the client has sent.
    if (this.#isBetter(path)) this.#shown = path;
    const { httpBasePath, log } = this.settings;
    const expected = httpBasePath ?? (this.#isAssumed ? DEFAULT_BASE_PATH : path);
    if (this.#hasWarned || isSame(path, expected)) return;
    this.#hasWarned = true;
    log.warn(
      'router.elsewhere',
      `the router serves ${JSON.stringify(path)}, but redirect URIs and links lead to ${expected}: set ` +
        `httpBasePath to the path of the router${httpBasePath === null ? '' : `, or mount the router at ${expected}`}. If a ` +
        'proxy removes the beginning of the path, add the beginning to baseUrl',
    );
  }

  /** Express ignores case, so a client can choose it. Most mount paths are in lower case. */
  #isBetter(path: string): boolean {
    if (!PATH.test(path)) return false;
    return this.#shown === null || (isSame(path, this.#shown) && path === path.toLowerCase());
  }
}

function isSame(path: string, other: string): boolean {
  return path.toLowerCase() === other.toLowerCase();
}
