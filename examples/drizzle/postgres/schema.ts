import { pgTable, serial, uuid, varchar } from 'drizzle-orm/pg-core';
import { authUsers } from './latchkey.js';

export const projects = pgTable('projects', {
  id: serial().primaryKey(),
  ownerId: uuid('owner_id')
    .notNull()
    .references(() => authUsers.id, { onDelete: 'cascade' }),
  title: varchar({ length: 80 }).notNull(),
});
