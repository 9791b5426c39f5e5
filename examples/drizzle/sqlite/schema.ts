import { integer, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { authUsers } from './latchkey.js';

export const projects = sqliteTable('projects', {
  id: integer().primaryKey({ autoIncrement: true }),
  ownerId: text('owner_id')
    .notNull()
    .references(() => authUsers.id, { onDelete: 'cascade' }),
  title: text().notNull(),
});
