import * as z from 'zod';
import { readOptions, schemaOf } from '../../config/options.js';
import { ExpiredRows } from '../../database/chores.js';
import { definePlugin, type Plugin } from '../../plugin.js';
import type { ModelsOf } from '../../tables/model.js';
import { AuditLogApi } from './api.js';
import { auditEventsTable } from './declarations.js';
import { listEvents } from './routes.js';

/** Options of {@link auditLog}. */
export interface AuditLogOptions {
  /** How long to keep events, in seconds. `auth.prune()` deletes older ones. @default 31536000 (365 days) */
  retention?: number;
}

const TABLES = { AuditEvent: auditEventsTable } as const;

/** The models that {@link auditLog} adds to `auth.models`. */
export interface AuditLogModels extends ModelsOf<typeof TABLES> {}

/** @internal */
export const schema = () =>
  schemaOf<AuditLogOptions>()({
    retention: z
      .number('must be a number of seconds')
      .positive('must be more than 0 seconds')
      .default(365 * 24 * 3600),
  });

/**
 * Records all events in a table that administrators can read.
 *
 * @throws TypeError on invalid options
 *
 * @example
 * const plugins = [credentialPassword(), admin({ adminEmails: ['owner@example.com'] }), auditLog()] as const;
 * const auth = createAuth({ …, plugins });
 * const { events } = await auth.auditLog.listEvents({ userId, kind: 'sign_in.failed' });
 */
export function auditLog(options: AuditLogOptions = {}): Plugin<'auditLog', AuditLogApi, AuditLogModels> {
  const settings = readOptions('auditLog', schema, options);
  return definePlugin({
    name: 'auditLog',
    setup(core, plugins) {
      if (!plugins.some(({ name }) => name === 'admin')) {
        throw new TypeError(
          'latchkey: auditLog: add admin({ … }) to plugins, so that administrators can read the events',
        );
      }
      const api = new AuditLogApi(core);
      const { name } = core.table(auditEventsTable);
      core.events.onAny((kind, event) => api.record(kind, event));
      return {
        api,
        routes: () => [listEvents(api)],
        tables: TABLES,
        expired: [new ExpiredRows(core.database, name, 'id', { created_at: settings.retention * 1000 })],
        onDelete: (userId, transaction) => api.forget(userId, transaction),
        settle: () => api.settle(),
      };
    },
  });
}
