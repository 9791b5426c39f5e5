import * as z from 'zod';
import { examineUndo, findUndo, requireBrowser, thenOf } from '../../accounts/undo-proof.js';
import type { Core } from '../../core/core.js';
import {
  enrolledReply,
  enrolledShape,
  resourceOf,
  sessionAnswer,
  sessionReply,
  signInAnswer,
} from '../../http/present.js';
import { type Answer, named, route, text } from '../../http/route.js';
import { shownAgain } from '../../shown-again.js';
import { type Passkey, passkeysTable } from '../../tables/factors.js';
import type { AcceptedPasskeys } from './accepted.js';
import type { PasskeysApi } from './api.js';
import {
  authenticationResponse,
  creationOptions,
  registrationResponse,
  requestOptions,
  signalShape,
} from './schemas.js';
import { PASSKEYS_PART } from './snapshots.js';
import type { PasskeysThen } from './undo.js';

export const signInOptions = ({ settings: { bearerEnabled } }: Core, api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/signin/passkey/options',
    client: 'passkeys.routes.signInOptions',
    summary: 'Get the options for a sign-in with a passkey, for navigator.credentials.get()',
    access: 'public',
    answers: {
      200: {
        description: 'The options, which are valid for 5 minutes in this browser. The browser gets a cookie',
        schema: z.object({
          options: requestOptions(),
          ...(bearerEnabled && { pending_token: z.string().describe('For clients without cookies') }),
        }),
      },
    },
    problems: ['rate_limited'],
    async handle() {
      const { options, pendingToken, setCookie } = await api.signInOptions();
      const body = { options, pending_token: pendingToken };
      return { status: 200, body, headers: { 'Set-Cookie': setCookie } };
    },
  });

export const signIn = (core: Core, api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/signin/passkey',
    client: 'passkeys.routes.signIn',
    session: 'starts',
    summary: 'Sign in with a passkey',
    access: 'public',
    body: z.strictObject({
      response: authenticationResponse(),
      remember_me: shownAgain(z.boolean().optional().describe('Keep the session when the browser is closed')),
      pending_token: text(200)
        .optional()
        .describe('The pending_token of the options, for clients without cookies'),
    }),
    answers: { 200: answerOf(core, 'The user and the new session, whose token is set as a cookie') },
    problems: ['invalid_passkey', 'unknown_passkey', ...core.signInProblems],
    async handle({ body: { response, remember_me, pending_token } }) {
      const issued = await api.signIn({
        response,
        rememberMe: remember_me ?? false,
        pendingToken: pending_token,
      });
      return sessionReply(core, issued);
    },
  });

/** The documented response of a sign-in with a passkey, which waits only for a code that verifies the email. */
function answerOf(core: Core, description: string): Answer {
  const waits = core.emailVerification?.asksAtSignIn === true;
  return waits ? signInAnswer(core, description) : sessionAnswer(core, description);
}

export const undoOptions = (core: Core, then: PasskeysThen) =>
  route({
    method: 'post',
    path: '/undo-change/options',
    client: 'passkeys.routes.undoOptions',
    summary: 'Get the options for proving an undo with a passkey, for navigator.credentials.get()',
    access: 'public',
    forms: false,
    body: z.strictObject({ token: text(200) }),
    answers: {
      200: {
        description: 'The options, which are valid for 5 minutes in this browser. The browser gets a cookie',
        schema: z.object({
          options: requestOptions(),
          ...(core.settings.bearerEnabled && {
            pending_token: z.string().describe('For clients without cookies'),
          }),
        }),
      },
    },
    problems: ['invalid_token', 'proof_required', 'no_passkey', 'rate_limited'],
    async handle({ body: { token } }) {
      await core.limiter.countAddress('passkeyOptions');
      const seen = await examineUndo(core, await findUndo(core, token));
      requireBrowser(seen);
      const { options, pendingToken, setCookie } = await then.options(
        thenOf(PASSKEYS_PART, seen),
        seen.found.id,
      );
      const body = { options, pending_token: pendingToken };
      return { status: 200, body, headers: { 'Set-Cookie': setCookie } };
    },
  });

export const reauthenticationOptions = (api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/reauthenticate/options',
    client: 'passkeys.routes.reauthenticationOptions',
    summary:
      "Get the options for reauthenticating with one of the user's passkeys, for navigator.credentials.get()",
    access: 'session',
    openTo: 'any-task',
    answers: {
      200: {
        description: 'The options, which are valid for 5 minutes',
        schema: z.object({ options: requestOptions() }),
      },
    },
    problems: ['rate_limited'],
    async handle({ auth }) {
      const session = { userId: auth.user.id, sessionId: auth.session.id };
      return { status: 200, body: { ...(await api.reauthenticationOptions(session)) } };
    },
  });

const passkeyResource = resourceOf<Passkey>('Passkey', 'A passkey of the user', passkeysTable.columns);
const one = () => z.object({ passkey: passkeyResource.schema });

const ADDED =
  'The new passkey. If a second factor had to be set up, also the session with a new token, and recovery codes';

export const addPasskey = (core: Core, api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/passkeys',
    client: 'passkeys.routes.create',
    session: 'changes',
    summary: 'Add a passkey that the browser has created with the options',
    access: 'session',
    openTo: { does: ['enroll_second_factor'] },
    sensitive: {
      asks: 'second-factor',
      because: 'the options were given to this session after a recent sign-in',
    },
    body: z.strictObject({ response: registrationResponse(), name: shownAgain(text(320).optional()) }),
    answers: {
      201: {
        description: ADDED,
        schema: named(
          'AddedPasskey',
          ADDED,
          core.secondFactors.arePossible
            ? one().extend(z.object(enrolledShape(core)).partial().shape)
            : one(),
        ),
      },
    },
    problems: ['invalid_passkey', 'email_not_verified', 'passkey_exists', 'too_many_passkeys'],
    async handle({ auth, body: { response, name } }) {
      const owner = { userId: auth.user.id, sessionId: auth.session.id };
      const { enrolled, ...passkey } = await api.register({ ...owner, response, name });
      const body = { passkey: passkeyResource.present(passkey) };
      return enrolled ? enrolledReply(core, enrolled, body, 201) : { status: 201, body };
    },
  });

export const listPasskeys = (accepted: AcceptedPasskeys) =>
  route({
    method: 'get',
    path: '/passkeys',
    client: 'passkeys.list',
    summary: "List the current user's passkeys",
    access: 'session',
    openTo: 'any-task',
    answers: {
      200: {
        description: 'The passkeys, and which ones browsers should keep',
        schema: z.object({
          passkeys: z.array(passkeyResource.schema),
          signal: signalShape(),
        }),
      },
    },
    async handle({ auth }) {
      const { passkeys, signal } = await accepted.list(auth.user.id);
      const { rpId: rp_id, userId: user_id, accepted: ids } = signal;
      return {
        status: 200,
        body: {
          passkeys: passkeys.map(passkeyResource.present),
          signal: { rp_id, user_id, accepted: [...ids] },
        },
      };
    },
  });

export const renamePasskey = (api: PasskeysApi) =>
  route({
    method: 'patch',
    path: '/passkeys/:id',
    client: 'passkeys.rename',
    summary: 'Rename a passkey',
    access: 'session',
    body: z.strictObject({ name: text(320) }),
    answers: { 200: { description: 'The passkey', schema: one() } },
    problems: ['passkey_not_found'],
    async handle({ auth, params: { id = '' }, body: { name } }) {
      const passkey = await api.rename(auth.user.id, id, name);
      return { status: 200, body: { passkey: passkeyResource.present(passkey) } };
    },
  });

export const removePasskey = (core: Core, api: PasskeysApi) =>
  route({
    method: 'delete',
    path: '/passkeys/:id',
    client: 'passkeys.remove',
    session: 'changes',
    summary: 'Remove a passkey, unless it is the last sign-in method',
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    answers: { 204: { description: 'The passkey was removed' } },
    problems: [
      ...(['passkey_not_found', 'last_sign_in_method'] as const),
      ...(core.secondFactors.arePossible ? (['second_factor_demanded'] as const) : []),
    ],
    async handle({ auth, params: { id = '' } }) {
      await api.remove(auth.user.id, id, { sessionId: auth.session.id });
      return { status: 204 };
    },
  });

export const registrationOptions = (api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/passkeys/options',
    client: 'passkeys.routes.creationOptions',
    summary: 'Get the options for a new passkey, for navigator.credentials.create()',
    access: 'session',
    openTo: { does: ['enroll_second_factor'] },
    sensitive: { asks: 'fresh' },
    answers: {
      200: {
        description: 'The options, which are valid for 5 minutes',
        schema: z.object({ options: creationOptions() }),
      },
    },
    problems: ['email_not_verified', 'too_many_passkeys', 'rate_limited'],
    async handle({ auth }) {
      const { options } = await api.registrationOptions({ userId: auth.user.id, sessionId: auth.session.id });
      return { status: 200, body: { options } };
    },
  });
