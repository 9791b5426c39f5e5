import { type Client, createClient } from '../../lib/client.js';
import { type StoryShape, story } from './story.js';

/** What the specs call in a page. This file is bundled into it. */
const client: Client<StoryShape> = createClient<StoryShape>({
  humanToken: () => client.humanChallenge(),
});
const json = async (path: string) => (await (await fetch(path)).json()) as string;

const inPage = {
  client,
  runStory: (email: string) =>
    story({
      client,
      ceremonies: client.passkeys,
      mailed: (kind, to) => json(`/mailed/${kind}/${to}`),
      totp: (secret) => json(`/totp/${secret}`),
      email,
    }),
};

export type InPage = typeof inPage;
Object.assign(globalThis, { inPage });
