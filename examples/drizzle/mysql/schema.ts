import { int, mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { authUsers, latchkeyId } from './latchkey.js';

export const projects = mysqlTable('projects', {
  id: int().autoincrement().primaryKey(),
  ownerId: latchkeyId('owner_id')
    .notNull()
    .references(() => authUsers.id, { onDelete: 'cascade' }),
  title: varchar({ length: 80 }).notNull(),
});
