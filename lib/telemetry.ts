import type {
  BatchObservableResult,
  Context,
  Counter,
  Histogram,
  Meter,
  Span,
  Tracer,
} from '@opentelemetry/api';
import type { AuthErrorCode } from './errors.js';
import type { Log } from './logger.js';
import { performance } from './timers.js';

/** @internal */
type Api = typeof import('@opentelemetry/api');

/** The sign-in methods, as values of `latchkey.sign_in.method`. */
export type SignInMethod =
  | 'password'
  | 'sign_up'
  | 'provider'
  | 'passkey'
  | 'email'
  /** The second factor or the emailed code of a pending sign-in. */
  | 'second_step'
  /** A session of a previous system. */
  | 'previous_system'
  /** The app's own proof: `auth.createSession`. */
  | 'app';

/**
 * The outcomes of a sign-in, as values of `latchkey.sign_in.outcome`. For a failure: the problem's code, or `error`.
 */
export type SignInOutcome = 'signed_in' | 'pending' | 'error' | AuthErrorCode;

/** The kinds of credentials that are looked up, as values of `latchkey.lookup.credential`. */
export type LookedUp = 'session' | 'api_key';

/** The work on password hashes, as values of `latchkey.password_hash.operation`. */
export type HashOperation = 'hash' | 'verify';

/** A union of literals, such as the names of an interface. A `string` does not match, because it could be anything. */
type Literal<S extends string> = Record<never, never> extends Record<S, unknown> ? never : S;

declare const isTemplate: unique symbol;

/** The path of a route as it was declared, such as `/auth/sessions/:id`. Only `BasePath` creates one. */
export type RouteTemplate = string & { readonly [isTemplate]: true };

/** The entries of the outbox that have not been sent yet, across all processes. */
export interface WaitingEntries {
  /** All of them. */
  readonly waiting: number;
  /** Those that wait until a limit allows them. */
  readonly held: number;
}

/** The trace context in which a request is handled. */
export type Requester = object;

/** @internal */
interface Instruments {
  readonly api: Api;
  readonly tracer: Tracer;
  readonly signIns: Counter<{
    'latchkey.sign_in.method': SignInMethod;
    'latchkey.sign_in.outcome': SignInOutcome;
  }>;
  readonly hashDuration: Histogram<{ 'latchkey.password_hash.operation': HashOperation }>;
  readonly hashQueue: Histogram<Record<never, never>>;
  readonly lookupDuration: Histogram<{ 'latchkey.lookup.credential': LookedUp }>;
  readonly lookupBatch: Histogram<{ 'latchkey.lookup.credential': LookedUp }>;
  readonly refused: Counter;
  readonly meter: Meter;
}

// The boundaries that the semantic conventions of HTTP recommend, and two below them, because a lookup is fast.
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128];
const QUEUE = [0, ...SIZES];

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The key of the SDK's `suppressTracing`. With it in a context, instrumentations create no spans or `traceparent`. */
const SUPPRESSED = 'OpenTelemetry SDK Context Key SUPPRESS_TRACING';

/**
 * Records spans and metrics with the app's own `@opentelemetry/api`. It records nothing until the package is loaded,
 * which takes a few milliseconds. The values of attributes come from closed sets, so that they can contain neither
 * personal data nor secrets: each parameter is a union of literals, a number, or the path of a route as it was
 * declared. Telemetry never throws, although the SDK passes on the errors of the app's processors, samplers and views.
 */
export class Telemetry {
  #on: Instruments | null = null;
  #hasFailed = false;
  readonly #loaded = this.#load();

  constructor(private readonly log: Log) {}

  /** Resolves when the package is loaded. @throws Error if `@opentelemetry/api` is not installed */
  loaded(): Promise<void> {
    return this.#loaded;
  }

  /** The trace context of the current request. */
  requester(): Requester | undefined {
    return this.#safely(() => this.#on?.api.context.active());
  }

  /** Sets `http.route` on the active span, unless an instrumentation has set it. */
  route(template: () => RouteTemplate): void {
    this.#safely(() => {
      const span = this.#on?.api.trace.getActiveSpan() as
        | (Span & { attributes?: Readonly<Record<string, unknown>> })
        | undefined;
      if (span?.isRecording() && span.attributes?.['http.route'] === undefined)
        span.setAttribute('http.route', template());
    });
  }

  /** Counts a sign-in. */
  signIn(method: SignInMethod, outcome: SignInOutcome): void {
    const attributes = { 'latchkey.sign_in.method': method, 'latchkey.sign_in.outcome': outcome };
    this.#safely(() => this.#on?.signIns.add(1, attributes));
  }

  /** Counts a request that a rate limit has rejected. @param rule the name of the limit in `rateLimit` */
  refused<Rule extends string>(rule: Literal<Rule>): void {
    this.#safely(() => this.#on?.refused.add(1, { 'latchkey.rate_limit.rule': rule }));
  }

  /** Records how many hashes are waiting in the queue when another hash joins it. */
  queued(waiting: number): void {
    this.#safely(() => this.#on?.hashQueue.record(waiting));
  }

  /** Measures the work on a password hash, without its wait in the queue. */
  async hash<T>(operation: HashOperation, work: () => Promise<T>): Promise<T> {
    const started = performance.now();
    try {
      return await work();
    } finally {
      const seconds = secondsSince(started);
      const attributes = { 'latchkey.password_hash.operation': operation };
      this.#safely(() => this.#on?.hashDuration.record(seconds, attributes));
    }
  }

  /**
   * Measures a lookup, and records it as a span with links to the spans of all requests that it serves. The span is a
   * child of the first request's span.
   */
  async lookUp<T>(
    credential: LookedUp,
    requesters: readonly (Requester | undefined)[],
    work: () => Promise<T>,
  ): Promise<T> {
    if (!this.#on) return work();
    const { api, tracer, lookupDuration, lookupBatch } = this.#on;
    const contexts = [...new Set(requesters as readonly (Context | undefined)[])].filter(
      (one) => one !== undefined,
    );
    const size = requesters.length;
    const attributes = { 'latchkey.lookup.credential': credential };
    const parent = contexts[0] ?? api.ROOT_CONTEXT;
    const span = this.#safely(() => {
      const links = contexts.flatMap((one) => {
        const context = api.trace.getSpanContext(one);
        return context && api.isSpanContextValid(context) ? [{ context }] : [];
      });
      const options = { links, attributes: { ...attributes, 'latchkey.lookup.batch_size': size } };
      return tracer.startSpan('latchkey.lookup', options, parent);
    });
    const started = performance.now();
    try {
      return await this.#in(() => (span ? api.trace.setSpan(parent, span) : parent), work);
    } catch (error) {
      // The message is left out, because it can contain parts of the statement.
      this.#safely(() => span?.setStatus({ code: api.SpanStatusCode.ERROR }));
      throw error;
    } finally {
      const seconds = secondsSince(started);
      this.#safely(() => span?.end());
      this.#safely(() => lookupDuration.record(seconds, attributes));
      this.#safely(() => lookupBatch.record(size, attributes));
    }
  }

  /**
   * Reports the numbers of waiting entries of the outbox whenever metrics are collected.
   *
   * @param read returns the numbers, or undefined if they are unknown
   * @returns a function that stops the reports
   */
  observeOutbox(read: () => Promise<WaitingEntries | undefined>): () => void {
    const adding = this.#loaded.then(() => this.#on && observeWaiting(this.#on.meter, read));
    const added = adding.catch(() => undefined);
    return () => void added.then((stop) => stop?.()).catch(() => undefined);
  }

  /** Returns the trace context of the current request, as a W3C `traceparent`. Null if there is none. */
  traceparent(): string | null {
    const span = this.#safely(() => {
      const context = this.#on?.api.trace.getActiveSpan()?.spanContext();
      return context && this.#on?.api.isSpanContextValid(context) ? context : undefined;
    });
    if (!span) return null;
    return `00-${span.traceId}-${span.spanId}-${(span.traceFlags & 0xff).toString(16).padStart(2, '0')}`;
  }

  /** Runs `work` in the trace of a `traceparent`. */
  within<T>(traceparent: string | null, work: () => T): T {
    const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
    if (!traceId || !spanId || !flags) return work();
    const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
    return this.#in(({ trace, ROOT_CONTEXT }) => trace.setSpanContext(ROOT_CONTEXT, parent), work);
  }

  /**
   * Runs `work` without spans, for a request that has its own `traceparent`. Instrumentations would add a second one.
   */
  suppressed<T>(work: () => T): T {
    return this.#in(
      ({ context, createContextKey }) => context.active().setValue(createContextKey(SUPPRESSED), true),
      work,
    );
  }

  /** Runs `work` once and returns its outcome, in a trace context if that is possible. */
  #in<T>(contextOf: (api: Api) => Context, work: () => T): T {
    const api = this.#on?.api;
    if (!api) return work();
    const outcomes: (() => T)[] = [];
    this.#safely(() => api.context.with(contextOf(api), () => void outcomes.push(outcomeOf(work))));
    const [outcome = work] = outcomes;
    return outcome();
  }

  /** Calls OpenTelemetry. If it fails, the first failure is logged. */
  #safely<T>(call: () => T): T | undefined {
    try {
      return call();
    } catch (error) {
      if (!this.#hasFailed)
        this.log.error('telemetry.failed', 'OpenTelemetry failed, so telemetry is incomplete', {
          err: error,
        });
      this.#hasFailed = true;
      return undefined;
    }
  }

  #load(): Promise<void> {
    const loading = load().then((api) => {
      this.#on = this.#safely(() => instrumentsOf(api)) ?? null;
    });
    // `loaded` and the log report the failure.
    loading.catch(() => undefined);
    return loading;
  }
}

async function load(): Promise<Api> {
  try {
    return await import('@opentelemetry/api');
  } catch (cause) {
    throw new Error('latchkey: telemetry needs an additional package: npm install @opentelemetry/api', {
      cause,
    });
  }
}

/** @returns a function that stops the reports */
function observeWaiting(meter: Meter, read: () => Promise<WaitingEntries | undefined>): () => void {
  const waiting = meter.createObservableGauge('latchkey.outbox.waiting', {
    description: 'Emails and webhooks that have not been sent yet, across all processes',
    unit: '{entry}',
  });
  const held = meter.createObservableGauge('latchkey.outbox.held', {
    description: 'Those of the waiting emails that rateLimit.strangers holds, across all processes',
    unit: '{entry}',
  });
  const observe = async (result: BatchObservableResult) => {
    const counts = await read();
    if (!counts) return;
    result.observe(waiting, counts.waiting);
    result.observe(held, counts.held);
  };
  meter.addBatchObservableCallback(observe, [waiting, held]);
  return () => meter.removeBatchObservableCallback(observe, [waiting, held]);
}

function instrumentsOf(api: Api): Instruments {
  const meter = api.metrics.getMeter('latchkey');
  const seconds = { unit: 's', advice: { explicitBucketBoundaries: SECONDS } };
  return {
    api,
    meter,
    tracer: api.trace.getTracer('latchkey'),
    signIns: meter.createCounter('latchkey.sign_ins', {
      description: 'Sign-ins, by method and outcome',
      unit: '{sign_in}',
    }),
    hashDuration: meter.createHistogram('latchkey.password_hash.duration', {
      description: 'Duration of the work on a password hash, without the wait in the queue',
      ...seconds,
    }),
    hashQueue: meter.createHistogram('latchkey.password_hash.queue_length', {
      description: 'Password hashes that are waiting when another one arrives',
      unit: '{hash}',
      advice: { explicitBucketBoundaries: QUEUE },
    }),
    lookupDuration: meter.createHistogram('latchkey.lookup.duration', {
      description: 'Duration of the statement that looks up sessions or API keys',
      ...seconds,
    }),
    lookupBatch: meter.createHistogram('latchkey.lookup.batch_size', {
      description: 'Lookups that one statement serves',
      unit: '{lookup}',
      advice: { explicitBucketBoundaries: SIZES },
    }),
    refused: meter.createCounter('latchkey.rate_limit.refused', {
      description: 'Requests and emails that a rate limit has rejected, by rule',
      unit: '{request}',
    }),
  };
}

/** Runs `work`. @returns a function that returns its result, or throws its error */
function outcomeOf<T>(work: () => T): () => T {
  try {
    const result = work();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

function secondsSince(started: number): number {
  return (performance.now() - started) / 1000;
}
