import { createClient, type Result } from '../../lib/client.js';
import { Authenticator } from '../support/authenticator.js';
import { type StoryShape, type StoryTools, story } from './story.js';

/**
 * A client as a phone has it: with a token, and the value of its device in a header.
 *
 * @param solves whether it can solve the challenges of the human check
 */
export function phone(origin: string, create: typeof createClient = createClient, solves = true) {
  const kept: { token: string | null; device: string } = { token: null, device: 'new' };
  const called: { readonly request: string; readonly hasToken: boolean }[] = [];
  const client: StoryTools['client'] = create<StoryShape>({
    ...(solves && { humanToken: () => client.humanChallenge() }),
    baseUrl: `${origin}/auth`,
    bearer: {
      get: () => kept.token,
      set(token) {
        kept.token = token;
      },
    },
    async fetch(url, init) {
      const headers = { ...(init?.headers as Record<string, string>), 'Latchkey-Device': kept.device };
      const response = await fetch(url, { ...init, headers });
      called.push({
        request: `${init?.method} ${new URL(String(url)).pathname.replace('/auth', '')}`,
        hasToken: response.headers.has('set-auth-token'),
      });
      const { device_token } = (await response
        .clone()
        .json()
        .catch(() => ({}))) as { device_token?: string };
      kept.device = device_token ?? kept.device;
      return response;
    },
  });
  return { client, kept, called };
}

/** The ceremonies of the single routes, with an authenticator in software. */
function ceremoniesOf(
  { passkeys, ...client }: StoryTools['client'],
  origin: string,
): StoryTools['ceremonies'] {
  const device = new Authenticator({ origin });
  const { routes } = passkeys;
  const get = (options: object) => device.get(options as never);
  async function then<A, B>(asked: Promise<Result<A>>, next: (data: A) => Promise<Result<B>>) {
    const { data, error } = await asked;
    return (error ? { data: null, error } : next(data as A)) as never;
  }
  const pendingIn = ({ pending_token }: { pending_token?: string }) => ({ pending_token });
  return {
    create: (input = {}) =>
      then(routes.creationOptions(), ({ options }) =>
        routes.create({ ...input, response: device.create(options as never) }),
      ),
    signIn: ({ remember_me = false } = {}) =>
      then(routes.signInOptions(), (data) =>
        routes.signIn({ response: get(data.options), remember_me, ...pendingIn(data) }),
      ),
    completeSignIn: (input = {}) =>
      then(routes.secondFactorOptions(input), ({ options }) =>
        client.completeSignIn({ method: 'passkey', response: get(options), ...input }),
      ),
    reauthenticate: () =>
      then(routes.reauthenticationOptions(), ({ options }) =>
        client.reauthenticate({ passkey: get(options) }),
      ),
    undoChange: (input) =>
      then(routes.undoOptions(input), (data) =>
        client.undoChange({ ...input, passkey: get(data.options), ...pendingIn(data) }),
      ),
  };
}

/** Calls every method as the user `email`, on the server of `startStoryApp`. */
export async function phoneStory(client: StoryTools['client'], origin: string, email: string): Promise<void> {
  const json = async (path: string) => (await (await fetch(origin + path)).json()) as string;
  await story({
    client,
    ceremonies: ceremoniesOf(client, origin),
    mailed: (kind, to) => json(`/mailed/${kind}/${to}`),
    totp: (secret) => json(`/totp/${secret}`),
    email,
  });
}
