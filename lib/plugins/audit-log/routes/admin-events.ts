import { z } from 'zod';
import { pageOptions, pageQuery } from '../../../http/page.js';
import { route } from '../../../http/route.js';
import { id, text, time } from '../../../http/schemas.js';
import type { AuditLogApi } from '../api.js';

const eventSchema = z.object({
  id,
  kind: z.string(),
  user_id: id.nullable(),
  ip_address: z.string().nullable(),
  user_agent: z.string().nullable(),
  details: z.record(z.string(), z.unknown()),
  created_at: time,
});

export const listEvents = (api: AuditLogApi) =>
  route({
    method: 'get',
    path: '/admin/events',
    summary: 'What happened, the newest first',
    access: 'admin',
    query: z.object({
      ...pageQuery,
      user_id: text(100).optional(),
      kind: text(64).optional().describe('The name of an event, such as sign_in.failed'),
    }),
    answers: {
      200: {
        description: 'A page of events, and the cursor of the next one',
        schema: z.object({ events: z.array(eventSchema), next_cursor: z.string().nullable() }),
      },
    },
    async handle({ query: { user_id: userId, kind, ...page } }) {
      const { events, nextCursor } = await api.listEvents({
        ...pageOptions(page),
        ...(userId !== undefined && { userId }),
        ...(kind !== undefined && { kind }),
      });
      return {
        status: 200,
        body: {
          events: events.map((event) => ({
            id: event.id,
            kind: event.kind,
            user_id: event.userId,
            ip_address: event.ipAddress,
            user_agent: event.userAgent,
            details: snakeCased(event.details),
            created_at: event.createdAt.toISOString(),
          })),
          next_cursor: nextCursor,
        },
      };
    },
  });

function snakeCased(details: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(details);
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
}
