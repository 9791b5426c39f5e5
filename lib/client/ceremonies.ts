import { onAbort, throwIfAborted } from './abort.js';
import { ROUTES } from './generated/routes.js';
import { type CallOptions, failed, type Result } from './result.js';
import type { Route, Send } from './transport.js';

/** The parts of a browser that ceremonies use. Other runtimes do not have them. */
interface Runtime {
  readonly navigator?: { readonly credentials?: Readonly<Record<'create' | 'get', Ask>> };
  readonly PublicKeyCredential?: {
    parseCreationOptionsFromJSON?(options: Options): object;
    parseRequestOptionsFromJSON?(options: Options): object;
    isConditionalMediationAvailable?(): Promise<boolean>;
    signalAllAcceptedCredentials?(facts: object): Promise<void>;
    signalUnknownCredential?(facts: object): Promise<void>;
  };
}

type Ask = (given: object) => Promise<Credential>;

interface Options {
  readonly challenge: string;
  readonly rpId?: string;
  readonly [name: string]: unknown;
}

interface Asked {
  readonly options: Options;
  readonly pending_token?: string;
}

interface Credential {
  readonly id: string;
  readonly rawId: ArrayBuffer;
  readonly type: string;
  readonly response: Readonly<Record<string, ArrayBuffer>> & { getTransports?(): string[] };
  toJSON?(): object;
}

type Input = Readonly<Record<string, unknown>>;

// The server forgets its challenge after 5 minutes.
const RENEW_MS = 4 * 60 * 1000;
/** The errors after which a renewal is retried. The browser offers the older options until then. */
const RETRIED = ['network', 'rate_limited'];
const RETRY_S = 10;

/** Aborts the previous ceremony, such as one that waits for autofill, because a browser runs only one at a time. */
let waiting = new AbortController();

/** @internal */
export function ceremonies(send: Send) {
  /** Gets options, asks the browser for a passkey and sends its response in the given field. */
  const ceremony =
    (kind: 'create' | 'get', options: Route, to: Route, field = 'response', fixed: Input = {}) =>
    async (
      { autofill, trust_device, ...input }: Input = {},
      given: CallOptions = {},
    ): Promise<Result<unknown>> => {
      const { credentials } = browser().navigator ?? {};
      if (
        !credentials ||
        (autofill && !(await browser().PublicKeyCredential?.isConditionalMediationAvailable?.()))
      )
        return failed(0, 'passkey_unavailable', UNAVAILABLE);
      waiting.abort();
      waiting = new AbortController();
      const { signal: own } = waiting;
      let current: Asked | null = null;
      for (;;) {
        const asked = await send(options, input, given);
        const { error } = asked;
        if (error && !(current && RETRIED.includes(error.code))) return asked;
        current = (asked.data ?? current) as Asked;
        const { options: json, pending_token } = current;
        const wait = error ? (error.retryAfter ?? RETRY_S) * 1000 : RENEW_MS;
        const renewal = autofill ? AbortSignal.timeout(wait) : null;
        const controller = new AbortController();
        const stop = onAbort([given.signal, own, renewal], () => controller.abort());
        let response: { readonly id: string };
        try {
          const { signal } = controller;
          response = await ask(kind, json, { signal, mediation: autofill ? 'conditional' : 'optional' });
        } catch (error) {
          throwIfAborted(given.signal, error);
          if (renewal?.aborted && !own.aborted) continue;
          return refused(error as Error);
        } finally {
          stop();
        }
        const body = { ...fixed, pending_token, ...input, trust_device, [field]: response };
        const result = await send(to, body, given);
        if (result.error?.code === 'unknown_passkey')
          void inform('signalUnknownCredential', { rpId: json.rpId, credentialId: response.id });
        return result;
      }
    };
  const { list, routes } = ROUTES.passkeys;
  return {
    async list(given?: CallOptions): Promise<Result<unknown>> {
      const result = await send(list, null, given);
      signalAccepted(result);
      return result;
    },
    create: ceremony('create', routes.creationOptions, routes.create),
    signIn: ceremony('get', routes.signInOptions, routes.signIn),
    completeSignIn: ceremony('get', routes.secondFactorOptions, ROUTES.completeSignIn, 'response', {
      method: 'passkey',
    }),
    reauthenticate: ceremony('get', routes.reauthenticationOptions, ROUTES.reauthenticate, 'passkey'),
    undoChange: ceremony('get', routes.undoOptions, ROUTES.undoChange, 'passkey'),
  };
}

/** Informs the browser which passkeys the account accepts, if a response lists them. */
function signalAccepted({ data }: Result<unknown>): void {
  const { signal } = (data ?? {}) as { signal?: Readonly<Record<string, unknown>> };
  if (!signal) return;
  void inform('signalAllAcceptedCredentials', {
    rpId: signal.rp_id,
    userId: signal.user_id,
    allAcceptedCredentialIds: signal.accepted,
  });
}

function browser(): Runtime {
  return globalThis as unknown as Runtime;
}

/** Informs the browser. It is not an error if this fails, because the browser then offers passkeys as before. */
async function inform(method: 'signalAllAcceptedCredentials' | 'signalUnknownCredential', facts: object) {
  try {
    await browser().PublicKeyCredential?.[method]?.(facts);
  } catch {}
}

async function ask(kind: 'create' | 'get', options: Options, more: object) {
  const { navigator, PublicKeyCredential } = browser();
  const parse = `parse${kind === 'create' ? 'Creation' : 'Request'}OptionsFromJSON` as const;
  const publicKey = PublicKeyCredential?.[parse]?.(options) ?? decoded(options);
  const credential = await navigator?.credentials?.[kind]({ publicKey, ...more });
  return encoded(credential as Credential) as { readonly id: string };
}

const UNAVAILABLE = 'This browser cannot use a passkey here.';

function refused({ name }: Error): Result<never> {
  if (name === 'NotAllowedError' || name === 'AbortError')
    return failed(0, 'passkey_canceled', 'No passkey was used. Try again.');
  if (name === 'InvalidStateError') return failed(0, 'passkey_exists', 'This device already has a passkey.');
  return failed(0, 'passkey_unavailable', UNAVAILABLE);
}

// Browsers from before 2025 do not convert from and to JSON themselves.
function decoded(options: Options): object {
  // The id of the relying party is a host name.
  const { rp, ...others } = options;
  const bytes = JSON.parse(JSON.stringify(others), (name, value) =>
    name === 'challenge' || name === 'id' ? bytesOf(value) : value,
  );
  return { rp, ...bytes };
}

function encoded(credential: Credential): object {
  if (credential.toJSON) return credential.toJSON();
  const { id, rawId, type, response } = credential;
  const parts = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  // JSON leaves out what a response does not have.
  const texts = parts.map((part) => [part, response[part] && textOf(response[part])]);
  return {
    id,
    rawId: textOf(rawId),
    type,
    response: { ...Object.fromEntries(texts), transports: response.getTransports?.() },
  };
}

function bytesOf(text: string): Uint8Array {
  return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
}

function textOf(buffer: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
