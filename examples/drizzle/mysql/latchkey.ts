// latchkey's tables for Drizzle. To write this file again: npx latchkey schema --for drizzle --out <this file>
//
// The tables belong to latchkey: only npx latchkey migrate changes them. Import them into your own schema, such as for
// references(() => authUsers.id). But keep this file outside the schema option of drizzle.config.ts, and do not export
// its tables from a file in that option. Otherwise, drizzle-kit takes the tables for yours, and creates and changes them.
//
// Columns with hashes, encrypted values and other internals are left out, so that no query returns them.
// latchkey does not validate what you write to the tables.

import { relations } from 'drizzle-orm';
import { boolean, customType, datetime, index, int, mysqlTable, text, unique, varchar } from 'drizzle-orm/mysql-core';

/**
 * The type of latchkey's ids. Use it for your own columns with a foreign key, because MySQL compares the collations. Then
 * change your tables with drizzle-kit generate and migrate only: drizzle-kit push does not compare collations. It would see
 * a change of the column each time, and empty your table.
 */
export const latchkeyId = customType<{ data: string }>({
  dataType: () => 'char(36) character set utf8mb4 collate utf8mb4_bin',
});

export const authUsers = mysqlTable('auth_users', {
  id: latchkeyId('id').primaryKey(),
  email: varchar('email', { length: 254 }),
  username: varchar('username', { length: 100 }),
  usernameDisplay: varchar('username_display', { length: 100 }),
  emailVerifiedAt: datetime('email_verified_at', { fsp: 3 }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  updatedAt: datetime('updated_at', { fsp: 3 }).notNull(),
  emailProof: varchar('email_proof', { length: 8 }),
  newPasswordRequiredAt: datetime('new_password_required_at', { fsp: 3 }),
}, (table) => [
  unique('auth_users_email_unique').on(table.email),
  unique('auth_users_username_unique').on(table.username),
  index('auth_users_search').on(table.id, table.email, table.username),
]);

export const authSessions = mysqlTable('auth_sessions', {
  id: latchkeyId('id').primaryKey(),
  userId: latchkeyId('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  authenticatedAt: datetime('authenticated_at', { fsp: 3 }).notNull(),
  lastActiveAt: datetime('last_active_at', { fsp: 3 }).notNull(),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
  ipAddress: varchar('ip_address', { length: 45 }),
  userAgent: varchar('user_agent', { length: 255 }),
  aal: int('aal').notNull().default(1),
  amr: varchar('amr', { length: 100 }).notNull().default(""),
}, (table) => [
  index('auth_sessions_user_id').on(table.userId),
  index('auth_sessions_expires_at').on(table.expiresAt),
  index('auth_sessions_last_active_at').on(table.lastActiveAt),
]);

export const authKnownDevices = mysqlTable('auth_known_devices', {
  id: latchkeyId('id').primaryKey(),
  userId: latchkeyId('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  name: varchar('name', { length: 64 }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  lastUsedAt: datetime('last_used_at', { fsp: 3 }).notNull(),
  forgottenAt: datetime('forgotten_at', { fsp: 3 }),
  trustedUntil: datetime('trusted_until', { fsp: 3 }),
}, (table) => [
  index('auth_known_devices_user_id').on(table.userId, table.lastUsedAt),
]);

export const authKnownDeviceTokens = mysqlTable('auth_known_device_tokens', {
  id: latchkeyId('id').primaryKey(),
  deviceId: latchkeyId('device_id').notNull().references(() => authKnownDevices.id, { onDelete: 'cascade' }),
  expiresAt: datetime('expires_at', { fsp: 3 }),
}, (table) => [
  index('auth_known_device_tokens_device_id').on(table.deviceId),
  index('auth_known_device_tokens_expires_at').on(table.expiresAt),
]);

export const authRecentBrowsers = mysqlTable('auth_recent_browsers', {
  id: latchkeyId('id').primaryKey(),
  userId: latchkeyId('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  madeThere: boolean('made_there').notNull(),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_recent_browsers_user_id').on(table.userId),
  index('auth_recent_browsers_expires_at').on(table.expiresAt),
]);

export const authAccountChanges = mysqlTable('auth_account_changes', {
  id: latchkeyId('id').primaryKey(),
  userId: latchkeyId('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  kind: varchar('kind', { length: 32 }).notNull(),
  email: varchar('email', { length: 254 }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
  device: varchar('device', { length: 64 }),
  ipAddress: varchar('ip_address', { length: 45 }),
}, (table) => [
  index('auth_account_changes_user_id').on(table.userId, table.createdAt),
  index('auth_account_changes_email').on(table.email),
  index('auth_account_changes_expires_at').on(table.expiresAt),
]);

export const authOneTimeTokens = mysqlTable('auth_one_time_tokens', {
  purpose: varchar('purpose', { length: 32 }).notNull(),
  userId: latchkeyId('user_id').references(() => authUsers.id, { onDelete: 'cascade' }),
  email: varchar('email', { length: 254 }).notNull(),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_one_time_tokens_user_id').on(table.userId),
  index('auth_one_time_tokens_expires_at').on(table.expiresAt),
]);

export const authUnfinishedSignIns = mysqlTable('auth_unfinished_sign_ins', {
  remembered: boolean('remembered').notNull(),
  amr: varchar('amr', { length: 100 }).notNull(),
  step: varchar('step', { length: 16 }).notNull(),
  userId: latchkeyId('user_id').notNull().references(() => authUsers.id, { onDelete: 'cascade' }),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_unfinished_sign_ins_user_id').on(table.userId),
  index('auth_unfinished_sign_ins_expires_at').on(table.expiresAt),
]);

export const authCarriedSessions = mysqlTable('auth_carried_sessions', {
  usedAt: datetime('used_at', { fsp: 3 }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_carried_sessions_expires_at').on(table.expiresAt),
]);

export const authImportedUsers = mysqlTable('auth_imported_users', {
  id: latchkeyId('id').primaryKey(),
  source: varchar('source', { length: 64 }).notNull(),
  ref: text('ref'),
  userId: latchkeyId('user_id'),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_imported_users_user_id').on(table.userId),
  index('auth_imported_users_source').on(table.source, table.id),
]);

export const authImportKeys = mysqlTable('auth_import_keys', {
  id: latchkeyId('id').primaryKey(),
});

export const authOutbox = mysqlTable('auth_outbox', {
  id: latchkeyId('id').primaryKey(),
  lane: varchar('lane', { length: 64 }).notNull(),
  kind: varchar('kind', { length: 64 }).notNull(),
  state: varchar('state', { length: 16 }).notNull(),
  attempts: int('attempts').notNull(),
  lastError: varchar('last_error', { length: 255 }),
  createdAt: datetime('created_at', { fsp: 3 }).notNull(),
  dueAt: datetime('due_at', { fsp: 3 }),
  giveUpAt: datetime('give_up_at', { fsp: 3 }).notNull(),
  finishedAt: datetime('finished_at', { fsp: 3 }),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
}, (table) => [
  index('auth_outbox_due_at').on(table.lane, table.dueAt),
  index('auth_outbox_state').on(table.state, table.id),
  index('auth_outbox_expires_at').on(table.expiresAt),
]);

export const authRateLimits = mysqlTable('auth_rate_limits', {
  hits: int('hits').notNull(),
  blockedUntil: datetime('blocked_until', { fsp: 3 }),
  expiresAt: datetime('expires_at', { fsp: 3 }).notNull(),
  reported: boolean('reported'),
}, (table) => [
  index('auth_rate_limits_expires_at').on(table.expiresAt),
]);

export const authLatchkeyMigrations = mysqlTable('auth_latchkey_migrations', {
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
