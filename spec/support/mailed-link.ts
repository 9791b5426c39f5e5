import { z } from 'zod';
import type { Core } from '../../lib/core/core.js';
import { sessionReply, signInAnswer } from '../../lib/http/present.js';
import { route, text } from '../../lib/http/route.js';
import type { MailTemplate } from '../../lib/mail/templates.js';
import { definePlugin } from '../../lib/plugin.js';
import type { SignedIn } from '../../lib/sessions/signed-in.js';
import { canonicalEmail } from '../../lib/users/canonical.js';
import { definePurpose } from '../../lib/verification/purposes.js';
import { english } from '../../lib/words/emails/index.js';

const SIGN_IN = definePurpose(
  { name: 'links' },
  { name: 'sign-in-link', lifetimeMs: 10 * 60 * 1000, endsWithPassword: true },
);

// A plugin of latchkey has its texts in lib/words/emails. Here they would be a part of the types of all specs.
// Specs in the same process that list all texts do not see it.
Object.defineProperty(english.texts, 'sign-in-link', {
  configurable: true,
  value: {
    subject: 'Sign in',
    before: 'Follow this link to sign in:',
    action: 'Sign in',
    after: 'The link works for ten minutes.',
  },
});
const mail = {
  kind: 'sign-in-link',
  text: 'sign-in-link',
  page: '/sign-in-link',
} as unknown as MailTemplate;

/** `auth.links`: sign-in by a link that is mailed. */
export class LinksApi {
  constructor(private readonly core: Core) {}

  async request(typed: string): Promise<void> {
    const email = canonicalEmail(typed);
    const link = { template: mail, purpose: SIGN_IN };
    if (email) await this.core.mails?.oneOf(email, [{ userId: null, link }]);
  }

  async signIn(token: string): Promise<SignedIn> {
    const found = await this.core.tokens.find(SIGN_IN, token);
    const record = await this.core.tokens.redeem(found, async (redeemed) => redeemed, false);
    return this.core.signIn({ ...record, amr: ['otp'] });
  }
}

/**
 * A sign-in method that a maintainer might add. It contains no rule that protects accounts: the core has these rules.
 */
export function mailedLink() {
  return definePlugin({
    name: 'links',
    setup(core) {
      const api = new LinksApi(core);
      return {
        api,
        routes: () => [
          route({
            method: 'post',
            path: '/signin/link/request',
            summary: 'Mail me a link to sign in',
            access: 'public',
            body: z.strictObject({ email: text(320) }),
            answers: { 202: { description: 'Accepted, whether or not the account exists' } },
            async handle({ body }) {
              await api.request(body.email);
              return { status: 202 };
            },
          }),
          route({
            method: 'post',
            path: '/signin/link',
            summary: 'Begin a session with a mailed link',
            access: 'public',
            body: z.strictObject({ token: text(200) }),
            answers: { 200: signInAnswer(core, 'The user and the new session') },
            problems: ['invalid_token', 'invalid_credentials'],
            async handle({ body }) {
              return sessionReply(core, await api.signIn(body.token));
            },
          }),
          route({
            method: 'post',
            path: '/signin/link/sensitive',
            summary: 'Something that needs a fresh session',
            access: 'session',
            sensitive: { asks: 'fresh', within: 60 },
            answers: { 204: { description: 'Done' } },
            async handle() {
              return { status: 204 };
            },
          }),
        ],
        waysIn: async ({ user }) => (user.email === null ? [] : [{ kind: 'link' }]),
      };
    },
  });
}
