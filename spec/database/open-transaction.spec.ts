import { expect, test } from '@jest/globals';
import { endsTransaction } from '../../lib/database/open-transaction.js';

test.each([
  ...['COMMIT', 'commit;', ' ROLLBACK', 'rollback work', 'END', 'ABORT', 'BEGIN', 'start transaction'],
  ...['/* trace */ COMMIT', '-- why\nROLLBACK', "SELECT 'a'; COMMIT", 'SELECT 1; /* now */ ROLLBACK'],
  "PREPARE TRANSACTION 'x'",
])('%j ends a transaction', (sql) => {
  expect(endsTransaction(sql, false)).toBe(true);
});

test.each([
  ...['SELECT 1', 'ROLLBACK TO SAVEPOINT a', 'rollback work to a', 'SAVEPOINT a', 'RELEASE SAVEPOINT a'],
  ...["INSERT INTO notes VALUES ('; COMMIT')", "SELECT 'it''s; end'", 'SELECT "a; begin"', 'SELECT `a; end`'],
  'DO $$ BEGIN PERFORM 1; END $$',
  ...['SELECT ended FROM commits', 'UPDATE begins SET a = 1 -- ; COMMIT'],
])('%j does not', (sql) => {
  expect(endsTransaction(sql, false)).toBe(false);
});

test.each([
  ...[
    'CREATE TABLE a (b INT)',
    'drop index a on b',
    'ALTER TABLE a ADD b INT',
    'TRUNCATE a',
    'LOCK TABLES a WRITE',
  ],
  ...['SET autocommit = 1', 'SET @@session.autocommit = 1', 'RENAME TABLE a TO b'],
])('on MySQL, %j ends it too', (sql) => {
  expect([endsTransaction(sql, true), endsTransaction(sql, false)]).toEqual([true, false]);
});

test.each(['CREATE TEMPORARY TABLE a (b INT)', 'DROP TEMPORARY TABLE a', 'SELECT created FROM a'])(
  'on MySQL, %j does not',
  (sql) => {
    expect(endsTransaction(sql, true)).toBe(false);
  },
);
