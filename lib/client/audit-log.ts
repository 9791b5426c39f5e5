import type { ReadingCode } from './codes.js';
import type { Page } from './resources.js';
import type { Call, CallOptions } from './result.js';

/** An event of the audit log. */
export interface AuditEvent {
  readonly id: string;
  readonly kind: string;
  readonly user_id: string | null;
  readonly ip_address: string | null;
  readonly user_agent: string | null;
  readonly details: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

/** The route of `auditLog()`, for administrators. */
export interface AuditLogClient {
  /** Lists events, newest first. */
  list(
    input?: Page & { user_id?: string; kind?: string },
    options?: CallOptions,
  ): Call<
    { readonly events: readonly AuditEvent[]; readonly next_cursor: string | null },
    ReadingCode | 'admin_required' | 'invalid_request' | 'task_required'
  >;
}

/** @internal */
export const AUDIT_LOG = {
  list: 'GET /admin/events input',
} satisfies Record<keyof AuditLogClient, string>;
