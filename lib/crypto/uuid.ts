import { createHash, randomFillSync } from 'node:crypto';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Creates a UUID of version 7 (RFC 9562). It starts with the time, so new rows are appended to indexes. */
export function uuidv7(now = Date.now()): string {
  return formatted(randomFillSync(Buffer.allocUnsafe(16)), now);
}

function formatted(bytes: Buffer, time: number): string {
  bytes.writeUIntBE(time, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Derives a UUID in the form of version 7 from a string. The same string and time result in the same UUID.
 *
 * @param time the time that the UUID starts with, in milliseconds since 1970
 */
export function derivedUuid(text: string, time: number): string {
  return formatted(createHash('sha256').update(text).digest().subarray(0, 16), time);
}

/** Whether a value can be an id. PostgreSQL raises an error if a uuid column is compared with anything else. */
export function isUuid(value: unknown): value is string {
  return typeof value === 'string' && UUID.test(value);
}

/** Converts a UUID of another system to lower case, as ids are stored here. Returns null if the value is not a UUID. */
export function uuidOf(value: unknown): string | null {
  const text = String(value).toLowerCase();
  return isUuid(text) ? text : null;
}
