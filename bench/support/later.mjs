// Migrations as of a later version of latchkey, which change the core's tables.

const COLUMNS = [
  ...['later_at', 'later_until'].map((name) => ({ table: 'users', name, type: 'time' })),
  ...['later_at', 'later_until'].map((name) => ({ table: 'known_devices', name, type: 'time' })),
  { table: 'known_devices', name: 'is_old', type: 'boolean' },
  ...['later_at', 'later_until'].map((name) => ({ table: 'account_changes', name, type: 'time' })),
  { table: 'account_changes', name: 'is_old', type: 'boolean' },
];

/** A plugin with these migrations. */
export const later = {
  name: 'later',
  setup: () => ({
    api: null,
    migrations: [
      {
        name: '0001-later',
        async up({ types, run, change }) {
          for (const { table, name, type } of COLUMNS)
            await run(`ALTER TABLE ${table} ADD COLUMN ${name} ${types[type]} NULL`);
          await run('CREATE INDEX account_changes_is_old ON account_changes (is_old, expires_at)');
          await run(`CREATE TABLE later_devices (id ${types.id} NOT NULL PRIMARY KEY, device_id ${types.id} NOT NULL,
            CONSTRAINT later_devices_fk FOREIGN KEY (device_id) REFERENCES known_devices (id) ON DELETE CASCADE) ${types.tableOptions}`);
          await change({
            ...{ table: 'known_devices', key: 'id' },
            ...{ set: 'is_old = TRUE', where: 'forgotten_at IS NOT NULL' },
          });
        },
      },
    ],
  }),
};
