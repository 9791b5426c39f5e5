// latchkey's tables for Drizzle. To write this file again: npx latchkey schema --for drizzle --out <this file>
//
// The tables belong to latchkey: only npx latchkey migrate changes them. Import them into your own schema, such as for
// references(() => authUsers.id). But keep this file outside the schema option of drizzle.config.ts, and do not export
// its tables from a file in that option. Otherwise, drizzle-kit takes the tables for yours, and creates and changes them.
//
// Columns with hashes, encrypted values and other internals are left out, so that no query returns them.
// latchkey does not validate what you write to the tables.

import { relations } from 'drizzle-orm';
import { customType, index, integer, sqliteTable, text, unique } from 'drizzle-orm/sqlite-core';

/** The type of latchkey's times, which are text such as 2026-01-31 12:00:00.000 +00:00. */
export const latchkeyTime = customType<{ data: Date; driverData: string }>({
  dataType: () => 'datetime',
  fromDriver: (value) => new Date(value.replace(' ', 'T').replace(' ', '')),
  toDriver: (value) => value.toISOString().replace('T', ' ').replace('Z', ' +00:00'),
});

export const authUsers = sqliteTable('auth_users', {
  id: text('id').primaryKey(),
  email: text('email', { length: 254 }),
  username: text('username', { length: 100 }),
  usernameDisplay: text('username_display', { length: 100 }),
  emailVerifiedAt: latchkeyTime('email_verified_at'),
  createdAt: latchkeyTime('created_at').notNull(),
  updatedAt: latchkeyTime('updated_at').notNull(),
  emailProof: text('email_proof', { length: 8 }),
  newPasswordRequiredAt: latchkeyTime('new_password_required_at'),
}, (table) => [
  unique('auth_users_email_unique').on(table.email),
  unique('auth_users_username_unique').on(table.username),
  index('auth_users_search').on(table.id, table.email, table.username),
]);

export const authSessions = sqliteTable('auth_sessions', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  createdAt: latchkeyTime('created_at').notNull(),
  authenticatedAt: latchkeyTime('authenticated_at').notNull(),
  lastActiveAt: latchkeyTime('last_active_at').notNull(),
  expiresAt: latchkeyTime('expires_at').notNull(),
  ipAddress: text('ip_address', { length: 45 }),
  userAgent: text('user_agent', { length: 255 }),
  aal: integer('aal').notNull().default(1),
  amr: text('amr', { length: 100 }).notNull().default(""),
}, (table) => [
  index('auth_sessions_user_id').on(table.userId),
  index('auth_sessions_expires_at').on(table.expiresAt),
  index('auth_sessions_last_active_at').on(table.lastActiveAt),
]);

export const authKnownDevices = sqliteTable('auth_known_devices', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  name: text('name', { length: 64 }),
  createdAt: latchkeyTime('created_at').notNull(),
  lastUsedAt: latchkeyTime('last_used_at').notNull(),
  forgottenAt: latchkeyTime('forgotten_at'),
  trustedUntil: latchkeyTime('trusted_until'),
}, (table) => [
  index('auth_known_devices_user_id').on(table.userId, table.lastUsedAt),
]);

export const authKnownDeviceTokens = sqliteTable('auth_known_device_tokens', {
  id: text('id').primaryKey(),
  deviceId: text('device_id').notNull().references(() => authKnownDevices.id, { onDelete: 'cascade' }),
  expiresAt: latchkeyTime('expires_at'),
}, (table) => [
  index('auth_known_device_tokens_device_id').on(table.deviceId),
  index('auth_known_device_tokens_expires_at').on(table.expiresAt),
]);

export const authRecentBrowsers = sqliteTable('auth_recent_browsers', {
  id: text('id').primaryKey(),
  userId: text('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  madeThere: integer('made_there', { mode: 'boolean' }).notNull(),
  expiresAt: latchkeyTime('expires_at').notNull(),
}, (table) => [
  index('auth_recent_browsers_user_id').on(table.userId),
  index('auth_recent_browsers_expires_at').on(table.expiresAt),
]);

export const authAccountChanges = sqliteTable('auth_account_changes', {
  id: text('id').primaryKey(),
  userId: text('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  kind: text('kind', { length: 32 }).notNull(),
  email: text('email', { length: 254 }),
  createdAt: latchkeyTime('created_at').notNull(),
  expiresAt: latchkeyTime('expires_at').notNull(),
  device: text('device', { length: 64 }),
  ipAddress: text('ip_address', { length: 45 }),
}, (table) => [
  index('auth_account_changes_user_id').on(table.userId, table.createdAt),
  index('auth_account_changes_email').on(table.email),
  index('auth_account_changes_expires_at').on(table.expiresAt),
]);

export const authOneTimeTokens = sqliteTable('auth_one_time_tokens', {
  purpose: text('purpose', { length: 32 }).notNull(),
  userId: text('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  email: text('email', { length: 254 }).notNull(),
  expiresAt: latchkeyTime('expires_at').notNull(),
}, (table) => [
  index('auth_one_time_tokens_user_id').on(table.userId),
  index('auth_one_time_tokens_expires_at').on(table.expiresAt),
]);

export const authUnfinishedSignIns = sqliteTable('auth_unfinished_sign_ins', {
  remembered: integer('remembered', { mode: 'boolean' }).notNull(),
  amr: text('amr', { length: 100 }).notNull(),
  step: text('step', { length: 16 }).notNull(),
  userId: text('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  expiresAt: latchkeyTime('expires_at').notNull(),
}, (table) => [
  index('auth_unfinished_sign_ins_user_id').on(table.userId),
  index('auth_unfinished_sign_ins_expires_at').on(table.expiresAt),
]);

export const authCarriedSessions = sqliteTable('auth_carried_sessions', {
  usedAt: latchkeyTime('used_at'),
  createdAt: latchkeyTime('created_at').notNull(),
  expiresAt: latchkeyTime('expires_at').notNull(),
}, (table) => [
  index('auth_carried_sessions_expires_at').on(table.expiresAt),
]);

export const authImportedUsers = sqliteTable('auth_imported_users', {
  id: text('id').primaryKey(),
  source: text('source', { length: 64 }).notNull(),
  ref: text('ref'),
  userId: text('user_id'),
  createdAt: latchkeyTime('created_at').notNull(),
}, (table) => [
  index('auth_imported_users_user_id').on(table.userId),
  index('auth_imported_users_source').on(table.source, table.id),
]);

export const authImportKeys = sqliteTable('auth_import_keys', {
  id: text('id').primaryKey(),
});

export const authOutbox = sqliteTable('auth_outbox', {
  id: text('id').primaryKey(),
  lane: text('lane', { length: 64 }).notNull(),
  kind: text('kind', { length: 64 }).notNull(),
  state: text('state', { length: 16 }).notNull(),
  attempts: integer('attempts').notNull(),
  lastError: text('last_error', { length: 255 }),
  createdAt: latchkeyTime('created_at').notNull(),
  dueAt: latchkeyTime('due_at'),
  giveUpAt: latchkeyTime('give_up_at').notNull(),
  finishedAt: latchkeyTime('finished_at'),
  expiresAt: latchkeyTime('expires_at').notNull(),
}, (table) => [
  index('auth_outbox_due_at').on(table.lane, table.dueAt),
  index('auth_outbox_state').on(table.state, table.id),
  index('auth_outbox_expires_at').on(table.expiresAt),
]);

export const authRateLimits = sqliteTable('auth_rate_limits', {
  hits: integer('hits').notNull(),
  blockedUntil: latchkeyTime('blocked_until'),
  expiresAt: latchkeyTime('expires_at').notNull(),
  reported: integer('reported', { mode: 'boolean' }),
}, (table) => [
  index('auth_rate_limits_expires_at').on(table.expiresAt),
]);

export const authLatchkeyMigrations = sqliteTable('auth_latchkey_migrations', {
  name: text('name', { length: 100 }).primaryKey(),
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
