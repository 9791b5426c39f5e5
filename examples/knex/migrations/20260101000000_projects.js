/** Run `latchkey migrate` first, because the table refers to auth_users. */
export function up(knex) {
  return knex.schema.createTable('projects', (table) => {
    table.increments();
    const owner = table.uuid('owner_id').notNullable();
    // A foreign key on MySQL requires the collation of the column that it refers to.
    if (knex.client.config.client === 'mysql2') owner.collate('utf8mb4_bin');
    table.foreign('owner_id').references('auth_users.id').onDelete('CASCADE');
    table.string('title', 80).notNullable();
  });
}

export function down(knex) {
  return knex.schema.dropTable('projects');
}
