import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { readOptions, schemaOf } from '../../lib/config/options.js';
import { createAuth, credentialPassword } from '../../lib/index.js';
import { google } from '../../lib/providers.js';
import { SECRET } from '../support/app.js';

const good = { database: 'sqlite:./nowhere.db', secret: SECRET };
const saidBy = (work: () => unknown): string => {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(TypeError);
    return (error as Error).message;
  }
  throw new Error('nothing was refused');
};
const said = (config: object) => saidBy(() => createAuth({ ...good, ...config } as never));

describe('an unknown option', () => {
  test.each([
    [{ databse: 'x' }, 'databse is not an option of latchkey: check the spelling (did you mean database?)'],
    [
      { databse: 'x', sesion: {} },
      'databse and sesion are not options of latchkey: check the spelling (did you mean database and session?)',
    ],
    [
      { databse: 'x', sesion: {}, colour: 1 },
      'databse, sesion, and colour are not options of latchkey: check the spelling (did you mean database and session?)',
    ],
    [{ colour: 1 }, 'colour is not an option of latchkey: check the spelling'],
    [{ bearerEnable: true }, /\(did you mean bearerEnabled\?\)$/],
    [{ BaseURL: 'x' }, /\(did you mean baseUrl\?\)$/],
    [
      { session: { idle: 5 } },
      'session.idle is not an option of latchkey: check the spelling (did you mean session.idleTimeout?)',
    ],
    [{ session: { cookie: { samesite: 'lax' } } }, /\(did you mean session\.cookie\.sameSite\?\)$/],
    [{ rateLimit: { signin: false } }, /^latchkey: rateLimit\.signin is .*did you mean rateLimit\.signIn\?/],
    [{ email: { send() {}, verifyURL: '/v' } }, /did you mean email\.verifyUrl\?/],
    [
      { user: { fields: { nickname: { type: 'string', maxlength: 3 } } } },
      /did you mean user\.fields\.nickname\.maxLength\?/,
    ],
  ])('%j is reported with a suggestion if there is a similar name', (config, message) => {
    if (typeof message === 'string') expect(said(config)).toBe(`latchkey: ${message}`);
    else expect(said(config)).toMatch(message);
  });

  test('is also reported for a plugin and a provider', () => {
    expect(saidBy(() => credentialPassword({ usernames: true } as never))).toBe(
      'latchkey: credentialPassword: usernames is not an option: check the spelling (did you mean username?)',
    );
    expect(saidBy(() => google({ clientId: 'c', clientSecret: 's', scope: ['openid'] } as never))).toBe(
      'latchkey: provider google: scope is not an option: check the spelling (did you mean scopes?)',
    );
  });
});

describe('invalid options', () => {
  test('are all reported inside an alternative of a union', () => {
    const message = said({ rateLimit: { signIn: { max: 5, window: '1m' }, mail: { limit: 0, window: 60 } } });
    expect(message).toContain('rateLimit.signIn.max is not an option of latchkey');
    expect(message).toContain('rateLimit.signIn.limit must be a whole number');
    expect(message).toContain('rateLimit.signIn.window must be a number of seconds');
    expect(message).toContain('rateLimit.mail.limit must be at least 1');
  });

  test('in lists are reported with their index', () => {
    expect(said({ trustedOrigins: ['https://a.example', 'null', 'x'] })).toMatch(
      /trustedOrigins\[1\] must be an origin.*; trustedOrigins\[2\] must be an origin/,
    );
  });

  test('that are not an object are rejected', () => {
    for (const config of [undefined, null, 5, [], 'sqlite:x'])
      expect(saidBy(() => createAuth(config as never))).toBe('latchkey: the config must be an object');
    expect(saidBy(() => credentialPassword(5 as never))).toBe(
      'latchkey: credentialPassword: the options must be an object',
    );
    expect(saidBy(() => google('c' as never))).toBe(
      'latchkey: provider google: the options must be an object',
    );
  });

  test('are described in words if their schema has no message', () => {
    const schema = schemaOf<{ a: string[]; b: boolean; c: number; d: { e?: boolean } }>()({
      a: z.array(z.string()),
      b: z.boolean(),
      c: z.int(),
      d: z.object({ e: z.boolean().optional() }),
    });
    const read = (options: object) => readOptions('it', () => schema, options as never);
    expect(saidBy(() => read({ a: [1], b: 1, c: 1.5 }))).toBe(
      'latchkey: it: a[0] must be a string; b must be true or false; c must be a whole number; d must be an object',
    );
    expect(saidBy(() => read({ a: {}, b: true, c: 1, d: {} }))).toBe('latchkey: it: a must be a list');
  });
});

interface Example {
  /** @default none, required */
  name: string;
  words?: readonly string[];
  call?: (given: string) => void;
}

const call = z.custom<NonNullable<Example['call']>>().optional();
const words = z.array(z.string()).optional();

/** TypeScript checks these; at run time, they only have to run. */
test('the schema of options and their interface cannot disagree', () => {
  const schema = () => schemaOf<Example>()({ name: z.string(), words, call });
  expect(readOptions('it', schema, { name: 'x' } as Example)).toEqual({ name: 'x' });
  // @ts-expect-error: an option of the interface is missing
  schemaOf<Example>()({ name: z.string(), words });
  // @ts-expect-error: likewise, if it is required
  schemaOf<Example>()({ words, call });
  // @ts-expect-error: the interface has no such option
  schemaOf<Example>()({ name: z.string(), words, call, other: z.string() });
  // @ts-expect-error: a number is not a string
  schemaOf<Example>()({ name: z.number(), words, call });
  // @ts-expect-error: the schema accepts more
  schemaOf<Example>()({ name: z.union([z.string(), z.number()]), words, call });
  // @ts-expect-error: the schema accepts less
  schemaOf<Example>()({ name: z.enum(['a', 'b']), words, call });
  // @ts-expect-error: anything is more than a string
  schemaOf<Example>()({ name: z.unknown(), words, call });
  // @ts-expect-error: another list
  schemaOf<Example>()({ name: z.string(), words: z.array(z.number()).optional(), call });
  // @ts-expect-error: another function
  schemaOf<Example>()({ name: z.string(), words, call: z.custom<() => number>().optional() });
  // @ts-expect-error: the interface requires it
  schemaOf<Example>()({ name: z.string().optional(), words, call });
  // @ts-expect-error: the schema requires it
  schemaOf<Example>()({ name: z.string(), words: z.array(z.string()), call });
  // @ts-expect-error: a schema that is tied to no interface
  readOptions('it', () => z.strictObject({ name: z.string() }), { name: 'x' });
  // @ts-expect-error: the schema of another interface
  readOptions('it', schema, { name: 'x' } as Example & { other?: string });
});
