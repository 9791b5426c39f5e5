import { onAbort, throwIfAborted } from './abort.js';
import { ROUTES } from './generated/routes.js';
import type { Credential, Options } from './passkey-json.js';
import { type CallOptions, failed, type Result } from './result.js';
import type { Route, Send } from './transport.js';

/** The parts of a browser that ceremonies use. Other runtimes do not have them. */
interface Runtime {
  readonly navigator?: { readonly credentials?: Credentials };
  readonly PublicKeyCredential?: {
    parseCreationOptionsFromJSON?(options: Options): object;
    parseRequestOptionsFromJSON?(options: Options): object;
    isConditionalMediationAvailable?(): Promise<boolean>;
    signalAllAcceptedCredentials?(facts: object): Promise<void>;
    signalUnknownCredential?(facts: object): Promise<void>;
  };
}

type Credentials = Readonly<Record<'create' | 'get', Ask>>;

type Ask = (given: object) => Promise<Credential & { toJSON?(): object }>;

interface Asked {
  readonly options: Options;
  readonly pending_token?: string;
}

type Input = Readonly<Record<string, unknown>>;

// The server forgets its challenge after 5 minutes.
const RENEW_MS = 4 * 60 * 1000;
/** The errors after which a renewal is retried. The browser offers the older options until then. */
const RETRIED = ['network', 'rate_limited'];
const RETRY_S = 10;

/** The body of a route that accepts other credentials, too. */
const asPasskey = (passkey: object) => ({ passkey });

/** Aborts the previous ceremony, such as one that waits for autofill, because a browser runs only one at a time. */
let waiting = new AbortController();

/** @internal */
export function ceremonies(send: Send) {
  /** Gets options, asks the browser for a passkey and sends its response. Some routes expect it in another body. */
  const ceremony =
    (
      kind: 'create' | 'get',
      options: Route,
      to: Route,
      bodyOf = (response: object): object => ({ response }),
    ) =>
    async (
      { autofill, trust_device, ...input }: Input = {},
      given: CallOptions = {},
    ): Promise<Result<unknown>> => {
      const { credentials } = browser().navigator ?? {};
      if (
        !credentials ||
        (autofill && !(await browser().PublicKeyCredential?.isConditionalMediationAvailable?.()))
      )
        return unavailable();
      // Together with the options, because Safari soon forgets that the user has clicked.
      if (!browser().PublicKeyCredential?.parseRequestOptionsFromJSON) void converters().catch(() => {});
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
          response = await ask(credentials, kind, json, {
            signal,
            mediation: autofill ? 'conditional' : 'optional',
          });
        } catch (error) {
          throwIfAborted(given.signal, error);
          if (renewal?.aborted && !own.aborted) continue;
          return refused(error as Error);
        } finally {
          stop();
        }
        const body = { pending_token, ...input, trust_device, ...bodyOf(response) };
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
      const { signal } = (result.data ?? {}) as { signal?: Readonly<Record<string, unknown>> };
      if (signal)
        void inform('signalAllAcceptedCredentials', {
          rpId: signal.rp_id,
          userId: signal.user_id,
          allAcceptedCredentialIds: signal.accepted,
        });
      return result;
    },
    create: ceremony('create', routes.creationOptions, routes.create),
    signIn: ceremony('get', routes.signInOptions, routes.signIn),
    completeSignIn: ceremony('get', routes.secondFactorOptions, ROUTES.completeSignIn, (response) => ({
      method: 'passkey',
      response,
    })),
    reauthenticate: ceremony('get', routes.reauthenticationOptions, ROUTES.reauthenticate, asPasskey),
    undoChange: ceremony('get', routes.undoOptions, ROUTES.undoChange, asPasskey),
  };
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

async function ask(credentials: Credentials, kind: 'create' | 'get', options: Options, more: object) {
  const { PublicKeyCredential } = browser();
  const parse = `parse${kind === 'create' ? 'Creation' : 'Request'}OptionsFromJSON` as const;
  const publicKey = PublicKeyCredential?.[parse]?.(options) ?? (await converters()).decoded(options);
  const credential = await credentials[kind]({ publicKey, ...more });
  return (credential.toJSON?.() ?? (await converters()).encoded(credential)) as { readonly id: string };
}

/** Loads the code that converts from and to JSON, which browsers since 2025 do themselves. */
function converters() {
  return import('./passkey-json.js');
}

function unavailable(): Result<never> {
  return failed('passkey_unavailable', 'This browser cannot use a passkey here.');
}

function refused({ name }: Error): Result<never> {
  if (/^(NotAllowed|Abort)Error$/.test(name))
    return failed('passkey_canceled', 'No passkey was used. Try again.');
  if (name === 'InvalidStateError') return failed('passkey_exists', 'This device already has a passkey.');
  return unavailable();
}
