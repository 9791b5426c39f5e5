import * as z from 'zod';
import { resourceOf } from '../../http/present.js';
import { pageOptions, pageQuery, route, text } from '../../http/route.js';
import type { AuditLogApi } from './api.js';
import { type AuditEvent, auditEventsTable } from './declarations.js';

const eventResource = resourceOf<AuditEvent>(
  'AuditEvent',
  'An event of the audit log',
  auditEventsTable.columns,
);

export const listEvents = (api: AuditLogApi) =>
  route({
    method: 'get',
    path: '/admin/events',
    client: 'auditLog.list',
    summary: 'List audit events, newest first',
    access: 'admin',
    query: z.object({
      ...pageQuery,
      user_id: text(100).optional(),
      kind: text(64).optional().describe('The name of an event, such as sign_in.failed'),
    }),
    answers: {
      200: {
        description: 'A page of events, and the cursor of the next page',
        schema: z.object({ events: z.array(eventResource.schema), next_cursor: z.string().nullable() }),
      },
    },
    async handle({ query: { user_id: userId, kind, ...page } }) {
      const { events, nextCursor } = await api.listEvents({
        ...pageOptions(page),
        ...(userId !== undefined && { userId }),
        ...(kind !== undefined && { kind }),
      });
      return { status: 200, body: { events: events.map(eventResource.present), next_cursor: nextCursor } };
    },
  });
