import { column } from './column.js';
import { declareTable } from './table.js';

export const devices = declareTable({
  name: 'known_devices',
  ofUser: 'devices',
  columns: {
    /** A UUID, version 7. */
    id: column.uuid(),
    userId: column.uuid(),
    /** The hash of the browser's device cookie. Each account that signed in there has a row with it. */
    tokenHash: column.digest().internal(),
    /** The time of this account's first sign-in in this browser. */
    createdAt: column.time(),
    /** The time of its last one. */
    lastUsedAt: column.time(),
    /** When it was forgotten, such as by a new password. Until then it was a device of the account, which proves something. */
    forgottenAt: column.time().nullable(),
    /** The hash of the token that the notice of this new device carries. */
    undoTokenHash: column.digest().internal().nullable(),
    /** Whether it is useless, and only kept because it is the newest one of an account. Null if it is not known yet. */
    kept: column.boolean().internal().nullable(),
  },
});

export type DeviceColumns = typeof devices.columns;
