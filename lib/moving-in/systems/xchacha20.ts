import { createCipheriv, createDecipheriv } from 'node:crypto';

const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const CONSTANTS = Buffer.from('expand 32-byte k');

/**
 * Decrypts XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) with the nonce before the ciphertext. OpenSSL has only
 * ChaCha20, so this function derives XChaCha20 from it. Returns null if the key is wrong.
 */
export function openXChaCha20(key: Buffer, sealed: Buffer): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const subkey = hChaCha20(key, nonce.subarray(0, 16));
  const iv = Buffer.concat([Buffer.alloc(4), nonce.subarray(16)]);
  const decipher = createDecipheriv('chacha20-poly1305', subkey, iv, { authTagLength: TAG_BYTES });
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

/**
 * HChaCha20 (section 2.2 of the draft) is the state after ChaCha20's rounds. A block of the key stream is the sum of
 * this state and the state before the rounds, so this function subtracts the latter.
 */
function hChaCha20(key: Buffer, input: Buffer): Buffer {
  const block = createCipheriv('chacha20', key, input).update(Buffer.alloc(64));
  const subkey = Buffer.alloc(32);
  for (let word = 0; word < 4; word++) {
    const at = word * 4;
    subkey.writeUInt32LE((block.readUInt32LE(at) - CONSTANTS.readUInt32LE(at)) >>> 0, at);
    subkey.writeUInt32LE((block.readUInt32LE(48 + at) - input.readUInt32LE(at)) >>> 0, 16 + at);
  }
  return subkey;
}
