/** A field that the server has rejected. */
export interface FieldError {
  /** Where the value is in the body, as a JSON Pointer (RFC 6901), such as `/email`. */
  readonly pointer: string;
  readonly code: string;
  /** A predicate that follows the name of the field, such as "is missing". */
  readonly detail: string;
}

/** Why a call failed. */
export interface ClientError<Code extends string = string> {
  /** The status of the response. 0 if there was none. */
  readonly status: number;
  /**
   * The error code, for programs. `network`: the client got no complete response. `unexpected`: the response is not one
   * of latchkey's, or the client could not send the request, because an argument is unsuitable or `bearer.get` failed.
   * `status` is 0 if the request was not sent.
   */
  readonly code: Code | 'network' | 'unexpected';
  /** One or two sentences for the user. */
  readonly detail: string;
  /** With `validation_failed`: the error of each rejected field. */
  readonly errors?: readonly FieldError[];
  /** With `task_required`: the first open task. */
  readonly task?: string;
  /** With `proof_required`: the proofs that an undo still requires. */
  readonly missing?: readonly string[];
  /**
   * The number of seconds after which a retry makes sense. A server on another origin must expose the header
   * `Retry-After`.
   */
  readonly retryAfter?: number;
}

/** The result of a call. Either `data` or `error` is null, or both if the server responds without content. */
export type Result<Data, Code extends string = string> =
  | { readonly data: Data; readonly error: null }
  | { readonly data: null; readonly error: ClientError<Code> };

/** The promise of every method. It rejects only with the reason of an aborted `signal`. */
export type Call<Data, Code extends string = string> = Promise<Result<Data, Code>>;

/** A method that calls a route. */
export type Method = (...given: never[]) => Call<unknown>;

/** The data of a method. */
export type DataOf<M extends Method> = Extract<Awaited<ReturnType<M>>, { readonly error: null }>['data'];

/** The error codes of a method. */
export type CodeOf<M extends Method> = NonNullable<Awaited<ReturnType<M>>['error']>['code'];

/** The input of a method, which follows the parameters of the path. */
export type InputOf<M extends Method> =
  Required<Parameters<M>> extends [...string[], infer Input extends object, CallOptions] ? Input : never;

/** Options of every method. */
export interface CallOptions {
  /** Aborts the call. */
  signal?: AbortSignal | undefined;
}

/** The error that {@link orThrow} throws. */
export class ClientFailure<Code extends string = string> extends Error {
  override readonly name = 'ClientFailure';

  constructor(
    /** Why the call failed. */
    readonly error: ClientError<Code>,
  ) {
    super(error.detail);
  }
}

/**
 * Returns the data of a result, for libraries that expect a call to throw.
 *
 * @example
 * useQuery({ queryKey: ['sessions'], queryFn: () => orThrow(client.sessions()) });
 *
 * @throws ClientFailure if the call has failed
 */
export async function orThrow<Data, Code extends string>(
  result: Result<Data, Code> | Call<Data, Code>,
): Promise<Data> {
  const { data, error } = await result;
  if (error) throw new ClientFailure(error);
  return data as Data;
}

/** @internal */
export function failed<Code extends string>(
  code: Code | 'network' | 'unexpected',
  detail: string,
  status = 0,
): Result<never, Code> {
  return { data: null, error: { status, code, detail } };
}

/**
 * Throws an error of the app's code later, so that the error does not interrupt a call.
 *
 * @internal
 */
export function report(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
