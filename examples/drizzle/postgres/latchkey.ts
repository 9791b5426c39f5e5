// latchkey's tables for Drizzle. To write this file again: npx latchkey schema --for drizzle --out <this file>
//
// The tables belong to latchkey: only npx latchkey migrate changes them. Import them into your own schema, such as for
// references(() => authUsers.id). But keep this file outside the schema option of drizzle.config.ts, and do not export
// its tables from a file in that option. Otherwise, drizzle-kit takes the tables for yours, and creates and changes them.
//
// Columns with hashes, encrypted values and other internals are left out, so that no query returns them.
// latchkey does not validate what you write to the tables.

import { relations } from 'drizzle-orm';
import { boolean, index, integer, pgTable, text, timestamp, unique, uuid, varchar } from 'drizzle-orm/pg-core';

export const authUsers = pgTable('auth_users', {
  id: uuid('id').primaryKey(),
  email: varchar('email', { length: 254 }),
  username: varchar('username', { length: 100 }),
  usernameDisplay: varchar('username_display', { length: 100 }),
  emailVerifiedAt: timestamp('email_verified_at', { precision: 3, withTimezone: true }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  updatedAt: timestamp('updated_at', { precision: 3, withTimezone: true }).notNull(),
  emailProof: varchar('email_proof', { length: 8 }),
  newPasswordRequiredAt: timestamp('new_password_required_at', { precision: 3, withTimezone: true }),
}, (table) => [
  unique('auth_users_email_unique').on(table.email),
  unique('auth_users_username_unique').on(table.username),
  index('auth_users_search').on(table.id, table.email, table.username),
]);

export const authSessions = pgTable('auth_sessions', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  authenticatedAt: timestamp('authenticated_at', { precision: 3, withTimezone: true }).notNull(),
  lastActiveAt: timestamp('last_active_at', { precision: 3, withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
  ipAddress: varchar('ip_address', { length: 45 }),
  userAgent: varchar('user_agent', { length: 255 }),
  aal: integer('aal').notNull().default(1),
  amr: varchar('amr', { length: 100 }).notNull().default(""),
}, (table) => [
  index('auth_sessions_user_id').on(table.userId),
  index('auth_sessions_expires_at').on(table.expiresAt),
  index('auth_sessions_last_active_at').on(table.lastActiveAt),
]);

export const authKnownDevices = pgTable('auth_known_devices', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  name: varchar('name', { length: 64 }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  lastUsedAt: timestamp('last_used_at', { precision: 3, withTimezone: true }).notNull(),
  forgottenAt: timestamp('forgotten_at', { precision: 3, withTimezone: true }),
  trustedUntil: timestamp('trusted_until', { precision: 3, withTimezone: true }),
}, (table) => [
  index('auth_known_devices_user_id').on(table.userId, table.lastUsedAt),
]);

export const authKnownDeviceTokens = pgTable('auth_known_device_tokens', {
  id: uuid('id').primaryKey(),
  deviceId: uuid('device_id').notNull().references(() => authKnownDevices.id, { onDelete: 'cascade' }),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }),
}, (table) => [
  index('auth_known_device_tokens_device_id').on(table.deviceId),
  index('auth_known_device_tokens_expires_at').on(table.expiresAt),
]);

export const authRecentBrowsers = pgTable('auth_recent_browsers', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  madeThere: boolean('made_there').notNull(),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_recent_browsers_user_id').on(table.userId),
  index('auth_recent_browsers_expires_at').on(table.expiresAt),
]);

export const authAccountChanges = pgTable('auth_account_changes', {
  id: uuid('id').primaryKey(),
  userId: uuid('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  kind: varchar('kind', { length: 32 }).notNull(),
  email: varchar('email', { length: 254 }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
  device: varchar('device', { length: 64 }),
  ipAddress: varchar('ip_address', { length: 45 }),
}, (table) => [
  index('auth_account_changes_user_id').on(table.userId, table.createdAt),
  index('auth_account_changes_email').on(table.email),
  index('auth_account_changes_expires_at').on(table.expiresAt),
]);

export const authOneTimeTokens = pgTable('auth_one_time_tokens', {
  purpose: varchar('purpose', { length: 32 }).notNull(),
  userId: uuid('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  email: varchar('email', { length: 254 }).notNull(),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_one_time_tokens_user_id').on(table.userId),
  index('auth_one_time_tokens_expires_at').on(table.expiresAt),
]);

export const authUnfinishedSignIns = pgTable('auth_unfinished_sign_ins', {
  remembered: boolean('remembered').notNull(),
  amr: varchar('amr', { length: 100 }).notNull(),
  step: varchar('step', { length: 16 }).notNull(),
  userId: uuid('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_unfinished_sign_ins_user_id').on(table.userId),
  index('auth_unfinished_sign_ins_expires_at').on(table.expiresAt),
]);

export const authCarriedSessions = pgTable('auth_carried_sessions', {
  usedAt: timestamp('used_at', { precision: 3, withTimezone: true }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_carried_sessions_expires_at').on(table.expiresAt),
]);

export const authImportedUsers = pgTable('auth_imported_users', {
  id: uuid('id').primaryKey(),
  source: varchar('source', { length: 64 }).notNull(),
  ref: text('ref'),
  userId: uuid('user_id'),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_imported_users_user_id').on(table.userId),
  index('auth_imported_users_source').on(table.source, table.id),
]);

export const authImportKeys = pgTable('auth_import_keys', {
  id: uuid('id').primaryKey(),
});

export const authOutbox = pgTable('auth_outbox', {
  id: uuid('id').primaryKey(),
  lane: varchar('lane', { length: 64 }).notNull(),
  kind: varchar('kind', { length: 64 }).notNull(),
  state: varchar('state', { length: 16 }).notNull(),
  attempts: integer('attempts').notNull(),
  lastError: varchar('last_error', { length: 255 }),
  createdAt: timestamp('created_at', { precision: 3, withTimezone: true }).notNull(),
  dueAt: timestamp('due_at', { precision: 3, withTimezone: true }),
  giveUpAt: timestamp('give_up_at', { precision: 3, withTimezone: true }).notNull(),
  finishedAt: timestamp('finished_at', { precision: 3, withTimezone: true }),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
}, (table) => [
  index('auth_outbox_due_at').on(table.lane, table.dueAt),
  index('auth_outbox_state').on(table.state, table.id),
  index('auth_outbox_expires_at').on(table.expiresAt),
]);

export const authRateLimits = pgTable('auth_rate_limits', {
  hits: integer('hits').notNull(),
  blockedUntil: timestamp('blocked_until', { precision: 3, withTimezone: true }),
  expiresAt: timestamp('expires_at', { precision: 3, withTimezone: true }).notNull(),
  reported: boolean('reported'),
}, (table) => [
  index('auth_rate_limits_expires_at').on(table.expiresAt),
]);

export const authLatchkeyMigrations = pgTable('auth_latchkey_migrations', {
  name: varchar('name', { length: 100 }).primaryKey(),
});

export const authUsersRelations = relations(authUsers, ({ many }) => ({
  sessions: many(authSessions),
  devices: many(authKnownDevices),
  recentBrowsers: many(authRecentBrowsers),
  accountChanges: many(authAccountChanges),
  oneTimeTokens: many(authOneTimeTokens),
  unfinishedSignIns: many(authUnfinishedSignIns),
}));

export const authSessionsRelations = relations(authSessions, ({ one }) => ({
  user: one(authUsers, { fields: [authSessions.userId], references: [authUsers.id] }),
}));

export const authKnownDevicesRelations = relations(authKnownDevices, ({ many, one }) => ({
  user: one(authUsers, { fields: [authKnownDevices.userId], references: [authUsers.id] }),
  knownDeviceTokens: many(authKnownDeviceTokens),
}));

export const authKnownDeviceTokensRelations = relations(authKnownDeviceTokens, ({ one }) => ({
  device: one(authKnownDevices, { fields: [authKnownDeviceTokens.deviceId], references: [authKnownDevices.id] }),
}));

export const authRecentBrowsersRelations = relations(authRecentBrowsers, ({ one }) => ({
  user: one(authUsers, { fields: [authRecentBrowsers.userId], references: [authUsers.id] }),
}));

export const authAccountChangesRelations = relations(authAccountChanges, ({ one }) => ({
  user: one(authUsers, { fields: [authAccountChanges.userId], references: [authUsers.id] }),
}));

export const authOneTimeTokensRelations = relations(authOneTimeTokens, ({ one }) => ({
  user: one(authUsers, { fields: [authOneTimeTokens.userId], references: [authUsers.id] }),
}));

export const authUnfinishedSignInsRelations = relations(authUnfinishedSignIns, ({ one }) => ({
  user: one(authUsers, { fields: [authUnfinishedSignIns.userId], references: [authUsers.id] }),
}));
