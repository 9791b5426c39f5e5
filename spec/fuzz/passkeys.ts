import assert from 'node:assert/strict';
import fc from 'fast-check';
import { Authenticator } from '../support/authenticator.js';
import { type Cbor, encodeCbor } from '../support/cbor.js';
import { text } from './inputs.js';
import { type Fuzz, fuzz } from './property.js';
import { checkAnswer } from './requests.js';
import type { Received, World } from './world.js';

type Bytes = (original: Buffer) => Buffer;

const cbor: fc.Arbitrary<Buffer> = fc
  .letrec<{ value: Cbor }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.integer({ min: -(2 ** 31), max: 2 ** 31 }),
      fc.constantFrom(
        'fmt',
        'attStmt',
        'authData',
        'none',
        'packed',
        'tpm',
        'apple',
        'fido-u2f',
        'android-safetynet',
      ),
      fc.uint8Array({ maxLength: 90 }),
      fc.array(tie('value'), { maxLength: 4 }),
      fc
        .array(
          fc.tuple(fc.oneof(fc.string({ maxLength: 8 }), fc.integer({ min: -5, max: 5 })), tie('value')),
          { maxLength: 4 },
        )
        .map((pairs) => new Map<number | string, Cbor>(pairs)),
    ),
  }))
  .value.map(encodeCbor);

/** What makes decoders of CBOR recurse, or reserve memory for what never comes. */
const bombs = fc.oneof(
  fc
    .tuple(fc.constantFrom(0x81, 0xa1, 0xc1, 0xd8, 0x9f, 0xbf, 0x5f), fc.integer({ min: 1, max: 8000 }))
    .map(([byte, times]) => Buffer.alloc(times, byte)),
  fc
    .constantFrom(
      '9bffffffffffffffff',
      'bbffffffffffffffff',
      '5bffffffffffffffff',
      '7b7fffffffffffffff',
      '9affffffff',
      'fb7ff8000000000000',
      'f97e00',
      '1bffffffffffffffff',
      'ff',
      '',
    )
    .map((hex) => Buffer.from(hex, 'hex')),
);
const change: fc.Arbitrary<Bytes> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .array(fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 })), { minLength: 1, maxLength: 3 })
      .map(
        (flips): Bytes =>
          (original) => {
            const copy = Buffer.from(original);
            for (const [at, mask] of flips) if (copy.length > 0) copy[at % copy.length]! ^= mask;
            return copy;
          },
      ),
  },
  {
    weight: 2,
    arbitrary: fc.nat().map(
      (at): Bytes =>
        (original) =>
          original.subarray(0, at % (original.length + 1)),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.nat(), fc.uint8Array({ minLength: 1, maxLength: 40 })).map(
      ([at, added]): Bytes =>
        (original) => {
          const index = at % (original.length + 1);
          return Buffer.concat([original.subarray(0, index), added, original.subarray(index)]);
        },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.oneof(cbor, bombs, fc.uint8Array({ maxLength: 200 }).map(Buffer.from)).map(
      (other): Bytes =>
        () =>
          other,
    ),
  },
);

/** What to change in a response: bytes in base64url, or a value of any type. */
const changes = (members: readonly string[]) =>
  fc.array(
    fc.tuple(
      fc.constantFrom(...members),
      fc.oneof(
        { weight: 5, arbitrary: change },
        { weight: 1, arbitrary: fc.oneof(text, fc.jsonValue()).map((value) => ({ value })) },
      ),
    ),
    { minLength: 1, maxLength: 2 },
  );

type Change = Bytes | { readonly value: unknown };

/** @returns the changed response, and whether a member is another than before */
function apply(response: object, all: readonly (readonly [string, Change])[]) {
  const copy = JSON.parse(JSON.stringify(response));
  for (const [member, change] of all) {
    const holder = member in copy ? copy : copy.response;
    // The response itself may have been changed.
    if (typeof holder !== 'object' || holder === null) continue;
    holder[member] =
      typeof change === 'function'
        ? change(Buffer.from(String(holder[member]), 'base64url')).toString('base64url')
        : change.value;
  }
  return copy;
}

/** Members whose every byte counts. */
const SIGNED = ['clientDataJSON', 'authenticatorData', 'signature'];

const cookiesOf = ({ headers }: Received) =>
  (headers['set-cookie'] ?? []).map((one) => one.split(';')[0]).join('; ');

/** Responses of authenticators. */
export function passkeyResponses(world: World): Fuzz[] {
  const post = async (path: string, cookie: string, body: unknown) => {
    const sent = {
      method: 'POST',
      path: `/auth${path}`,
      headers: { cookie, 'content-type': 'application/json' },
      body: Buffer.from(JSON.stringify(body)),
    };
    const answer = await world.send(sent);
    world.requireHealth();
    checkAnswer(sent, answer, world.origin);
    return answer;
  };
  const device = () => new Authenticator({ origin: world.origin });
  const registration = async (owner: Authenticator, cookie: string) => {
    const { status, text } = await post('/passkeys/options', cookie, {});
    assert.equal(status, 200, text);
    return owner.create(JSON.parse(text).options);
  };
  return [
    fuzz(
      'a changed response of a new passkey is refused, or adds it',
      25,
      fc.asyncProperty(
        changes(['attestationObject', 'clientDataJSON', 'id', 'rawId', 'type', 'transports', 'response']),
        async (all) => {
          const cookie = `latchkey=${(await world.credentials('passkeys')).token}`;
          const response = apply(await registration(device(), cookie), all);
          const { status, text } = await post('/passkeys', cookie, { response });
          assert.ok([201, 400, 401, 409, 413, 422].includes(status), `${status} ${text}`);
        },
      ),
    ),
    fuzz(
      'a changed response of a passkey signs nobody in',
      25,
      fc.asyncProperty(
        changes(['authenticatorData', 'clientDataJSON', 'signature', 'userHandle', 'id', 'rawId', 'type']),
        async (all) => {
          const cookie = `latchkey=${(await world.credentials('passkeys')).token}`;
          const owner = device();
          const added = await post('/passkeys', cookie, { response: await registration(owner, cookie) });
          assert.ok([201, 409].includes(added.status), added.text);
          const asked = await post('/signin/passkey/options', '', {});
          assert.equal(asked.status, 200, asked.text);
          const whole = owner.get(JSON.parse(asked.text).options);
          const response = apply(whole, all);
          const { status, text } = await post('/signin/passkey', cookiesOf(asked), { response });
          const isForged = SIGNED.some(
            (member) => response.response?.[member] !== (whole.response as never)[member],
          );
          assert.ok(
            [...(isForged || added.status !== 201 ? [] : [200]), 400, 401, 413, 422].includes(status),
            `${status} ${text}`,
          );
        },
      ),
    ),
  ];
}
