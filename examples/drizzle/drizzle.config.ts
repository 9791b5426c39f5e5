import { defineConfig } from 'drizzle-kit';
import { folder, url } from './database.js';

const dialects = { postgres: 'postgresql', mysql: 'mysql', sqlite: 'sqlite' } as const;

export default defineConfig({
  dialect: dialects[folder],
  // Not latchkey.ts, whose tables belong to latchkey.
  schema: `./${folder}/schema.ts`,
  out: `./${folder}/migrations`,
  dbCredentials: { url: url.replace('sqlite:', 'file:') },
  // Without this, drizzle-kit push would drop latchkey's tables.
  tablesFilter: ['!auth_*'],
});
