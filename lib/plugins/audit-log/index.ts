import { z } from 'zod';
import { auditEvents } from '../../migrations/0006-audit-events.js';
import { readOptions } from '../../options.js';
import type { Plugin } from '../../plugin.js';
import { AuditLogApi } from './api.js';
import { listEvents } from './routes/admin-events.js';

/** Options of {@link auditLog}. */
export interface AuditLogOptions {
  /** How long events are kept, in seconds; `auth.prune()` deletes older ones. @default 31536000 (365 days) */
  retention?: number;
}

const schema = z.strictObject({
  retention: z
    .number('must be a number of seconds')
    .positive('must be more than 0 seconds')
    .default(365 * 24 * 3600),
});

/** Keeps what happened in a table, for administrators to read. */
export function auditLog(options: AuditLogOptions = {}): Plugin<'auditLog', AuditLogApi> {
  const settings = readOptions('auditLog', schema, options);
  return {
    name: 'auditLog',
    setup(core, siblings) {
      if (!siblings.some(({ name }) => name === 'admin')) {
        throw new TypeError(
          'latchkey: auditLog: add admin({ … }) to plugins: its administrators read the events',
        );
      }
      const api = new AuditLogApi(core, settings.retention);
      core.events.onAny((kind, event) => api.record(kind, event));
      return {
        api,
        routes: [listEvents(api)],
        migrations: [auditEvents],
        prune: () => api.prune(),
        settle: () => api.settle(),
      };
    },
  };
}
