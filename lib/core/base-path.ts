import { DEFAULT_BASE_PATH, type Settings } from '../config/config.js';
import type { RouteTemplate } from '../telemetry.js';

const PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

/**
 * The path of the routes below `baseUrl`: `httpBasePath` or, if it is not configured, the mount path of the router. The
 * mount path is taken from a request, because Express does not reveal it earlier.
 */
export class BasePath {
  #shown: string | null = null;
  #isAssumed = false;
  #hasWarned = false;

  constructor(private readonly settings: Settings) {}

  /** The path, as far as it is known. */
  get known(): string {
    return this.settings.httpBasePath ?? this.#shown ?? DEFAULT_BASE_PATH;
  }

  /**
   * Returns the path for a URL that is sent to users or providers. The URL is wrong if the router is mounted elsewhere.
   */
  use(): string {
    this.#isAssumed ||= this.settings.httpBasePath === null && this.#shown === null;
    return this.known;
  }

  /** Returns the whole path of a route. @param declared the route's path as it was declared, such as `/sessions/:id` */
  template(declared: string): RouteTemplate {
    return (this.known + declared) as RouteTemplate;
  }

  /** Records the path at which the router serves a request, and warns once if URLs lead to another path. */
  show(path: string): void {
    if (path === this.#shown) return;
    // The client chooses a part of a mount path with parameters, so such a path is not used.
    if (this.#isBetter(path)) this.#shown = path;
    const { httpBasePath, log } = this.settings;
    const expected = httpBasePath ?? (this.#isAssumed ? DEFAULT_BASE_PATH : path);
    if (this.#hasWarned || isSame(path, expected)) return;
    this.#hasWarned = true;
    log.warn(
      'router.elsewhere',
      `the router serves ${JSON.stringify(path)}, but redirect URIs and links lead to ${expected}: set ` +
        `httpBasePath to the path of the router${httpBasePath === null ? '' : `, or mount the router at ${expected}`}. If a ` +
        'proxy removes the beginning of the path, add that part to baseUrl',
    );
  }

  /**
   * Prefers a path in lower case: Express ignores case, so clients can choose it, and most mount paths are lower-case.
   */
  #isBetter(path: string): boolean {
    if (!PATH.test(path)) return false;
    return this.#shown === null || (isSame(path, this.#shown) && path === path.toLowerCase());
  }
}

function isSame(path: string, other: string): boolean {
  return path.toLowerCase() === other.toLowerCase();
}
