import { appendFile } from 'node:fs/promises';
import { createAuth, credentialPassword, organizations } from 'latchkey';
import { pages } from 'latchkey/pages';
import { sequelize } from './database.js';
import { projectsOf } from './projects.js';

export const port = Number(process.env.PORT ?? 3000);

export const auth = createAuth({
  database: sequelize,
  secret: process.env.AUTH_SECRET,
  baseUrl: `http://localhost:${port}`,
  appName: 'Teams',
  email: {
    // See docs/mail-services.md for a real one.
    send: ({ to, subject, text }) => appendFile('mails.log', `To: ${to}\nSubject: ${subject}\n\n${text}\n\n`),
  },
  hooks: {
    // In the transaction that creates the organization, so that none is without its first project.
    async createOrganization({ id }, { transaction }) {
      await projectsOf(id).add('First project', transaction);
    },
  },
  plugins: [
    credentialPassword({ signInOnSignUp: true, sendVerificationOnSignUp: true }),
    organizations({
      roles: {
        admin: [
          'organization:update',
          'member:update',
          'member:remove',
          'invitation:create',
          'projects:write',
        ],
        editor: ['projects:write'],
      },
    }),
    pages({ home: '/' }),
  ],
});
