import { type Attributes, context, metrics, type Span, SpanKind, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  type DataPoint,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  type MeterProviderOptions,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
  type TracerConfig,
} from '@opentelemetry/sdk-trace-base';
import type { RequestHandler } from 'express';

/** A metric. For a histogram, it includes the number of values. */
export interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly attributes: Attributes;
  readonly value: number;
}

/** The app's own parts of the SDK. */
export interface OwnParts
  extends Pick<TracerConfig, 'sampler' | 'spanProcessors'>,
    Pick<MeterProviderOptions, 'views'> {}

/** Starts OpenTelemetry's SDK, as an app does before anything else. All recorded data stays in memory. */
export function startSdk({ spanProcessors = [], views = [], ...sampling }: OwnParts = {}) {
  const spans = new InMemorySpanExporter();
  const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader], views });
  const tracerProvider = new BasicTracerProvider({
    ...sampling,
    spanProcessors: [new SimpleSpanProcessor(spans), ...spanProcessors],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  trace.setGlobalTracerProvider(tracerProvider);
  metrics.setGlobalMeterProvider(meterProvider);

  /** Starts a span for each request, with `http.route` if the app knows it. */
  const middleware =
    (attributes: (url: string) => Attributes = () => ({})): RequestHandler =>
    (req, res, next) => {
      const options = { kind: SpanKind.SERVER, attributes: attributes(req.originalUrl) };
      const span: Span = trace.getTracer('app').startSpan(req.method, options);
      const { end } = res;
      // End the span before the client has the response, so that a spec finds the span.
      res.end = ((...given: unknown[]) => {
        span.end();
        return end.apply(res, given as never);
      }) as typeof res.end;
      context.with(trace.setSpan(context.active(), span), next);
    };

  return {
    tracerProvider,
    middleware,
    /** Runs `work` in a span. */
    within: <T>(span: Span, work: () => T): T => context.with(trace.setSpan(context.active(), span), work),
    /** The spans that have ended, of requests or of latchkey. */
    spans: (name?: string): ReadableSpan[] =>
      spans.getFinishedSpans().filter((span) => name === undefined || span.name === name),
    /** Returns the current value of every metric. */
    async figures(named?: string): Promise<Figure[]> {
      figures.reset();
      await reader.forceFlush();
      const { scopeMetrics = [] } = figures.getMetrics().at(-1) ?? {};
      return scopeMetrics
        .flatMap((scope) => scope.metrics)
        .filter(({ descriptor }) => named === undefined || descriptor.name === named)
        .flatMap(({ descriptor: { name, unit }, dataPoints }) =>
          (dataPoints as DataPoint<number | Histogram>[]).map(({ attributes, value }) => ({
            name,
            unit,
            attributes,
            value: typeof value === 'number' ? value : value.count,
          })),
        );
    },
    reset: () => spans.reset(),
    async stop(): Promise<void> {
      await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
      for (const api of [context, trace, metrics]) api.disable();
    },
  };
}
