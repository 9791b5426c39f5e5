// An Auth without a plugin that keeps accounts out, on a database in which the plugin was used.
import { afterEach, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { admin, createAuth, type Plugin, suspension, twoFactor } from '../../lib/index.js';
import { LeftOut } from '../../lib/sessions/left-out.js';
import { ada, memoryLogger, password, SECRET, type SpecApp, signedIn, startApp } from '../support/app.js';
import { advance } from '../support/clock.js';
import { rows } from '../support/database.js';
import { enroll } from '../support/two-factor.js';

const administrators = admin({ adminEmails: ['root@example.com'] });
const whole = [password(), administrators, twoFactor(), suspension()] as const;
const eve = { email: 'eve@example.com', password: 'the owner of another one' };

let app: SpecApp<typeof whole>;
let auths: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const auth of auths) await auth.close();
  auths = [];
  await app.stop();
});

/** An Auth of another process, whose config lacks some of the plugins. */
function another(others: readonly Plugin[]) {
  const logger = memoryLogger();
  const auth = createAuth({
    database: app.database.url,
    secret: SECRET,
    plugins: [password(), administrators, ...others] as [ReturnType<typeof password>, ...Plugin[]],
    logger,
    rateLimit: false,
    outbox: { interval: false },
  });
  auths.push(auth);
  const signIn = ({ email, password }: typeof ada) =>
    auth.credential.signIn({ credential: email, password }).then(
      () => 'signed in',
      ({ code }) => code,
    );
  return { auth, signIn, lines: () => logger.lines.join('\n') };
}

describe('without twoFactor()', () => {
  test('an account with a second factor cannot sign in, and a log line says why', async () => {
    app = await startApp({ plugins: whole });
    await enroll(await signedIn(app));
    await signedIn(app, eve);
    const { auth, signIn, lines } = another([suspension()]);
    expect(await signIn(ada)).toBe('unavailable');
    expect(lines()).toContain(
      'an account with a second factor cannot sign in, because twoFactor() is not in plugins: add it',
    );
    // A session that code creates is none that has shown a second factor either.
    const { id } = (await auth.users.find({ email: ada.email })) ?? {};
    await expect(auth.createSession(`${id}`)).rejects.toMatchObject({ code: 'unavailable' });
    expect(await signIn(eve)).toBe('signed in');
  });

  test('a process that was there before the plugin finds it out after a minute', async () => {
    app = (await startApp({
      plugins: [password(), administrators, suspension()] as const,
    })) as unknown as typeof app;
    await signedIn(app);
    const { auth, signIn } = another([suspension()]);
    expect(await signIn(ada)).toBe('signed in');
    const { auth: newer } = another([suspension(), twoFactor()]);
    await newer.migrate();
    await rows(app.database, 'UPDATE users SET second_factor_at = created_at');
    expect(await signIn(ada)).toBe('signed in');
    advance(auth, 61);
    expect(await signIn(ada)).toBe('unavailable');
  });
});

describe('without suspension()', () => {
  test('an account cannot sign in while it is suspended', async () => {
    app = await startApp({ plugins: whole });
    await signedIn(app);
    const { id } = (await app.auth.users.find({ email: ada.email })) ?? {};
    const { auth, signIn } = another([twoFactor()]);
    await app.auth.suspension.suspend(`${id}`, { until: new Date(Date.now() + 60_000) });
    expect(await signIn(ada)).toBe('unavailable');
    advance(auth, 61);
    expect(await signIn(ada)).toBe('signed in');
    await app.auth.suspension.suspend(`${id}`);
    expect(await signIn(ada)).toBe('unavailable');
  });
});

test('a field of the app with the name of such a column keeps nobody out', async () => {
  const field = { suspendedAt: { type: 'date' } } as const;
  app = (await startApp({
    plugins: [password()] as const,
    config: { user: { fields: field } },
  })) as unknown as typeof app;
  await signedIn(app);
  await rows(app.database, 'UPDATE users SET suspended_at = created_at');
  expect(await another([]).signIn(ada)).toBe('signed in');
});

test('an Auth that has the plugins asks the database nothing', async () => {
  app = await startApp({ plugins: whole });
  const { core } = internalsOf(app.auth);
  const read = core.database.read;
  try {
    core.database.read = () => Promise.reject(new Error('nothing is read'));
    await new LeftOut(core).check({ id: '' } as never, { amr: ['pwd'] });
  } finally {
    core.database.read = read;
  }
});
