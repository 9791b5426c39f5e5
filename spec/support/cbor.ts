/** A value that {@link encodeCbor} can encode. */
export type Cbor = number | string | Uint8Array | readonly Cbor[] | ReadonlyMap<number | string, Cbor>;

/** Encodes the part of CBOR (RFC 8949) that authenticators use. */
export function encodeCbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string')
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value]);
  if (value instanceof Map) {
    const pairs = [...value].flatMap(([key, one]) => [encodeCbor(key), encodeCbor(one)]);
    return Buffer.concat([head(5, value.size), ...pairs]);
  }
  const list = value as readonly Cbor[];
  return Buffer.concat([head(4, list.length), ...list.map(encodeCbor)]);
}

function head(major: number, length: number): Buffer {
  const kind = major << 5;
  if (length < 24) return Buffer.from([kind | length]);
  if (length < 0x100) return Buffer.from([kind | 24, length]);
  if (length < 0x10000) return Buffer.from([kind | 25, length >> 8, length & 0xff]);
  const bytes = Buffer.alloc(5);
  bytes[0] = kind | 26;
  bytes.writeUInt32BE(length, 1);
  return bytes;
}
