import * as z from 'zod';
import { forgetDevice } from '../accounts/forget-device.js';
import type { Core } from '../core/core.js';
import { id, named, route, time } from '../http/route.js';

const knownBrowser = ({ secondFactors }: Core) =>
  named(
    'Device',
    'A browser that the account knows',
    z.object({
      id,
      name: z.string().nullable(),
      first_seen_at: time,
      last_seen_at: time,
      current: z.boolean().describe('Whether the request came from this browser'),
      ...(secondFactors.trustDevices && {
        trusted_until: time
          .nullable()
          .describe('Until when sign-ins with the password there do not ask for the second factor'),
      }),
    }),
  );

export const listDevices = (core: Core) =>
  route({
    method: 'get',
    path: '/devices',
    client: 'devices',
    summary: "List the browsers that the current user's account knows, most recently used first",
    access: 'session',
    answers: {
      200: {
        description: 'The browsers',
        schema: z.object({ devices: z.array(knownBrowser(core)) }),
      },
    },
    async handle({ auth }) {
      const { secondFactors } = core;
      const devices = await core.devices.list(auth.user.id);
      const canTrust = secondFactors.trustDaysOf(auth.user) !== null;
      const listed = devices.map(({ firstSeenAt, lastSeenAt, trustedUntil, ...device }) => ({
        ...device,
        first_seen_at: firstSeenAt.toISOString(),
        last_seen_at: lastSeenAt.toISOString(),
        ...(secondFactors.trustDevices && {
          trusted_until: canTrust ? (trustedUntil?.toISOString() ?? null) : null,
        }),
      }));
      return { status: 200, body: { devices: listed } };
    },
  });

export const forget = (core: Core) =>
  route({
    method: 'delete',
    path: '/devices/:id',
    client: 'forgetDevice',
    formTwin: '/devices/:id/forget',
    summary: "Make the current user's account forget a browser. Its sessions continue",
    access: 'session',
    sensitive: { asks: 'fresh-or-password' },
    answers: { 204: { description: 'The account no longer knows the browser' } },
    problems: ['device_not_found'],
    async handle({ auth, params: { id: deviceId = '' } }) {
      await forgetDevice(core, auth.user.id, auth.session.id, deviceId);
      return { status: 204 };
    },
  });
