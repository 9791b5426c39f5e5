// The crash test itself: what a lane knows of what was not answered.
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Browser } from '../../bench/load/http.mjs';
import { Lane, type StormOfLanes, Unsure } from '../support/crash/lane.js';
import { AppProcess, type Sent } from '../support/crash/processes.js';
import { migrateForCrashes } from '../support/crash/storm.js';
import { createDatabase, rows, type SpecDatabase } from '../support/database.js';
import { CLIENT, startOidcServer } from '../support/oidc.js';
import { PAGE } from '../support/passkeys.js';

/** Answers that are lost. */
const LOST = ['/page', '/callback', '/me'];

let database: SpecDatabase;
let provider: Awaited<ReturnType<typeof startOidcServer>>;
let app: AppProcess;
const inbox: Sent[] = [];
beforeAll(async () => {
  database = await createDatabase();
  provider = await startOidcServer([`${PAGE}/auth/oauth/oidc/callback`]);
  const surroundings = {
    database: database.url,
    lanes: LOST.length,
    provider: { issuer: provider.issuer, ...CLIENT },
  };
  await migrateForCrashes(surroundings);
  app = await AppProcess.start(1, surroundings, (mail) => inbox.push(mail));
}, 60_000);
afterAll(async () => {
  await app.stop();
  await provider.stop();
  await database.drop();
});

test.each(LOST.map((lost, number) => [lost, number] as const))(
  'a sign-up by provider whose %s is not answered is done again, and may have left a session',
  async (lost, number) => {
    const changes: string[] = [];
    // A storm without faults, which loses one answer.
    const storm = {
      seed: 1,
      isCalm: true,
      byMail: false,
      inbox,
      clock: '',
      isLost: false,
      owe: () => undefined,
      happened: (_userId: string, event: string) => void changes.push(event),
      async mail(to: string, kind: string, since: number) {
        const found = () => inbox.slice(since).find((mail) => mail.to === to && mail.kind === kind)?.token;
        while (!found()) await new Promise((resolve) => setTimeout(resolve, 5));
        return found() ?? null;
      },
      async send(_random: unknown, method: string, path: string, carried: { browser?: Browser }) {
        const { browser } = carried;
        const former = new Map(browser?.cookies);
        const answer = await app.client.send(method, path, carried);
        if (!storm.isLost || !browser || !path.split('?', 1)[0]?.endsWith(lost))
          return { process: 1, answer, ms: 0 };
        storm.isLost = false;
        // Its cookies are lost with it.
        browser.cookies = former;
        return { process: 1, answer: null, ms: 0 };
      },
    };
    const lane = new Lane(storm as StormOfLanes, number);
    // The new account is by the provider.
    Object.assign(lane, { random: () => 0.1 });
    await lane.prepare(2);
    const [person] = lane.people;
    if (!person) throw new Error('nobody is there');
    const { email } = person;
    Object.assign(storm, { isCalm: false, isLost: true });
    await expect(lane.adminDelete(person)).rejects.toThrow(Unsure);
    expect([storm.isLost, lane.people[0]]).toEqual([false, person]);
    storm.isCalm = true;
    // First it is done again, and then looked at.
    await lane.settle();
    await lane.settle();
    const [other] = lane.people;
    expect([other?.email, other?.unresolved]).toEqual([email, null]);
    const sessions = await rows(database, 'SELECT id FROM sessions WHERE user_id = :id', { id: other?.id });
    expect([sessions.length, other?.sessions.length, other?.ghosts]).toEqual([
      lost === '/me' ? 1 : 2,
      1,
      lost === '/me' ? 0 : 1,
    ]);
    expect(changes.filter((event) => event === 'user.deleted')).toHaveLength(1);
  },
  60_000,
);
