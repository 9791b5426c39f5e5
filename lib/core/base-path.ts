import { DEFAULT_BASE_PATH, type Settings } from '../config/config.js';
import type { RouteTemplate } from '../telemetry.js';

const PATH = /^(\/[A-Za-z0-9._~-]+)+$/;

/** An Express app, as far as it shows where it is mounted. */
export interface MountingApp {
  /** The app that has mounted this app. Undefined if there is none. */
  readonly parent?: MountingApp;
  readonly mountpath: unknown;
}

/** A call of `app.use` that has mounted the router. */
interface Mount {
  readonly app: MountingApp;
  /** The path as the app has passed it: a string, a regular expression, or an array of them. */
  readonly path: unknown;
}

/**
 * The path of the routes below `baseUrl`: `httpBasePath` or, if it is not configured, the mount path of the router. The
 * mount path is known once an app has mounted the router, or otherwise from the first request to the router. Before
 * that, and if a client chooses a part of the mount path, the path is a guess.
 */
export class BasePath {
  readonly #mounts: Mount[] = [];
  /** The path that a request to the router has confirmed. */
  #shown: string | null = null;
  /** The first path that was used before a request confirmed one. */
  #used: string | null = null;
  #reportsGuesses = false;
  #hasWarnedOfGuess = false;
  #hasWarned = false;

  constructor(private readonly settings: Settings) {}

  /** The path, as far as it is known. */
  get known(): string {
    return this.settings.httpBasePath ?? this.#shown ?? this.#mounted[0] ?? DEFAULT_BASE_PATH;
  }

  /** Logs a warning when a guess is used from now on, because there is a router or a request. */
  reportGuesses(): void {
    this.#reportsGuesses = true;
  }

  /** Records that an app has mounted the router. */
  mount(mount: Mount): void {
    // A path that a request has shown does not change, so an app that is created later does not have to be kept.
    if (this.settings.httpBasePath === null && this.#shown === null) this.#mounts.push(mount);
  }

  /**
   * Returns the path for a URL that is sent to users or providers. The URL is wrong if the router is mounted elsewhere.
   */
  use(): string {
    const { known } = this;
    if (this.settings.httpBasePath !== null || this.#shown !== null) return known;
    const mounted = this.#mounted;
    if (mounted.length === 0 && this.#reportsGuesses) this.#warnOfGuess(known);
    this.#used ??= known;
    if (mounted.length > 0 && !includes(mounted, this.#used)) this.#warnOfElsewhere(known, this.#used);
    return known;
  }

  /** Returns the whole path of a route. @param declared the route's path as it was declared, such as `/sessions/:id` */
  template(declared: string): RouteTemplate {
    return (this.known + declared) as RouteTemplate;
  }

  /**
   * Records the path at which the router serves a request, and warns once if URLs lead to another path. A path with a part
   * that the client has chosen is not used for URLs, because these are sent to other users too.
   *
   * @param hasParameters whether the path was matched with a parameter, as far as Express shows it. It does not show the
   *   parameters of an outer router, so an app that has them must set `httpBasePath`
   */
  show(path: string, hasParameters: boolean): void {
    if (path === this.#shown) return;
    const mounted = this.#mounted;
    const isMounted = includes(mounted, path);
    const isPlain = !hasParameters && this.#mounts.every((mount) => pathsOf(mount).length > 0);
    // An app might be below a path that it does not know, such as the path of an `express.Router()`.
    const isBelow = (other: string) => !isMounted && isPlain && isSame(path.slice(-other.length), other);
    if (isMounted) this.#shown ??= mounted[0] ?? null;
    else if (isPlain && (mounted.length === 0 || mounted.some(isBelow))) {
      if (this.#isBetter(path)) this.#shown = path;
    }
    const expected = this.settings.httpBasePath ?? this.#used ?? this.known;
    const isServed = isSame(path, expected) || (includes(mounted, expected) && !isBelow(expected));
    if (!isServed) this.#warnOfElsewhere(path, expected);
  }

  /**
   * The paths at which apps have mounted the router, in the order of the calls. An app can itself be mounted later, so
   * they are not kept. Paths with parameters or patterns are left out, because the client chooses a part of them.
   */
  get #mounted(): readonly string[] {
    return this.#mounts.flatMap(pathsOf).map((path) => path || DEFAULT_BASE_PATH);
  }

  /**
   * Prefers a path in lower case: Express ignores case, so clients can choose it, and most mount paths are lower-case.
   */
  #isBetter(path: string): boolean {
    if (!PATH.test(path)) return false;
    return this.#shown === null || (isSame(path, this.#shown) && path === path.toLowerCase());
  }

  #warnOfGuess(path: string): void {
    if (this.#hasWarnedOfGuess) return;
    this.#hasWarnedOfGuess = true;
    this.settings.log.warn(
      'router.unknown',
      `redirects and links lead to ${path}, but this is a guess, because ` +
        (this.#mounts.length > 0
          ? "the router's mount path has a parameter or a pattern, so that clients choose a part of it"
          : 'no app.use has mounted the router yet') +
        ': set httpBasePath to the path of the router',
    );
  }

  #warnOfElsewhere(path: string, expected: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const { httpBasePath, log } = this.settings;
    log.warn(
      'router.elsewhere',
      `the router serves ${JSON.stringify(path)}, but redirect URIs and links lead to ${expected}: set ` +
        `httpBasePath to the path of the router${httpBasePath === null ? '' : `, or mount the router at ${expected}`}. If a ` +
        'proxy removes the beginning of the path, add that part to baseUrl',
    );
  }
}

/** Returns the paths of a mount below the root. Empty if a path on the way has a parameter or a pattern. */
function pathsOf({ app, path }: Mount): string[] {
  const plain = [path].flat(Number.POSITIVE_INFINITY).map((one) => String(one).replace(/\/$/, ''));
  // In an array, `/` matches only the root itself.
  const own = path === '/' ? [''] : plain.filter((one) => PATH.test(one));
  const above = app.parent ? pathsOf({ app: app.parent, path: app.mountpath }) : [''];
  return above.flatMap((start) => own.map((end) => start + end));
}

function includes(paths: readonly string[], path: string): boolean {
  return paths.some((one) => isSame(one, path));
}

function isSame(path: string, other: string): boolean {
  return path.toLowerCase() === other.toLowerCase();
}
