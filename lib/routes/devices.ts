import * as z from 'zod';
import { forgetDevice } from '../accounts/forget-device.js';
import type { Core } from '../core/core.js';
import { id, route, time } from '../http/route.js';

export const listDevices = (core: Core) =>
  route({
    method: 'get',
    path: '/devices',
    summary: "List the browsers that the current user's account knows, most recently used first",
    access: 'session',
    answers: {
      200: {
        description: 'The browsers',
        schema: z.object({
          devices: z.array(
            z.object({
              id,
              name: z.string().nullable(),
              first_seen_at: time,
              last_seen_at: time,
              current: z.boolean(),
            }),
          ),
        }),
      },
    },
    async handle({ auth }) {
      const devices = await core.devices.list(auth.user.id);
      const listed = devices.map(({ firstSeenAt, lastSeenAt, ...device }) => ({
        ...device,
        first_seen_at: firstSeenAt.toISOString(),
        last_seen_at: lastSeenAt.toISOString(),
      }));
      return { status: 200, body: { devices: listed } };
    },
  });

export const forget = (core: Core) =>
  route({
    method: 'delete',
    path: '/devices/:id',
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
