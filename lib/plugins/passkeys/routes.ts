import * as z from 'zod';
import { resourceOf } from '../../http/resource.js';
import { route } from '../../http/route.js';
import { text } from '../../http/schemas.js';
import type { PasskeysApi } from './api.js';
import { type Passkey, passkeysTable } from './declarations.js';
import { registrationResponse } from './schemas.js';

const passkeyResource = resourceOf<Passkey>(passkeysTable.columns);
const one = () => z.object({ passkey: passkeyResource.schema });
const FRESH_SECONDS = 600;

export const addPasskey = (api: PasskeysApi) =>
  route({
    method: 'post',
    path: '/passkeys',
    summary: 'Add a passkey that the browser has made from the options',
    access: 'session',
    changesWaysIn: true,
    body: z.strictObject({ response: registrationResponse(), name: text(320).optional() }),
    answers: { 201: { description: 'The new passkey', schema: one() } },
    problems: ['invalid_passkey', 'email_not_verified', 'passkey_exists', 'too_many_passkeys'],
    async handle({ auth, body: { response, name } }) {
      const owner = { userId: auth.user.id, sessionId: auth.session.id };
      const passkey = await api.register({ ...owner, response, name });
      return { status: 201, body: { passkey: passkeyResource.present(passkey) } };
    },
  });

export const listPasskeys = (api: PasskeysApi) =>
  route({
    method: 'get',
    path: '/passkeys',
    summary: 'List my passkeys',
    access: 'session',
    answers: {
      200: { description: 'The passkeys', schema: z.object({ passkeys: z.array(passkeyResource.schema) }) },
    },
    async handle({ auth }) {
      const passkeys = await api.list(auth.user.id);
      return { status: 200, body: { passkeys: passkeys.map(passkeyResource.present) } };
    },
  });

export const renamePasskey = (api: PasskeysApi) =>
  route({
    method: 'patch',
    path: '/passkeys/:id',
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

export const removePasskey = (api: PasskeysApi) =>
  route({
    method: 'delete',
    path: '/passkeys/:id',
    summary: 'Remove a passkey, unless it is my last way to sign in',
    access: 'session',
    changesWaysIn: true,
    fresh: FRESH_SECONDS,
    answers: { 204: { description: 'The passkey was removed' } },
    problems: ['passkey_not_found', 'last_sign_in_method'],
    async handle({ auth, params: { id = '' } }) {
      await api.remove(auth.user.id, id, { sessionId: auth.session.id });
      return { status: 204 };
    },
  });
