import { DataTypes, type Transaction, UniqueConstraintError } from 'sequelize';
import { sequelize } from './database.js';

/**
 * The projects of all organizations. The foreign key has ON DELETE RESTRICT, so no one deletes projects by deleting their
 * organization: latchkey responds with 409 organization_in_use while there are some.
 */
const Project = sequelize.define(
  'Project',
  {
    id: { type: DataTypes.UUID, primaryKey: true, defaultValue: DataTypes.UUIDV4 },
    organizationId: {
      type: DataTypes.UUID,
      allowNull: false,
      references: { model: 'organizations', key: 'id' },
      onDelete: 'RESTRICT',
    },
    name: { type: DataTypes.STRING(100), allowNull: false },
  },
  {
    tableName: 'projects',
    underscored: true,
    // Each key starts with the organization, so that two of them can have projects with the same name.
    indexes: [{ unique: true, fields: ['organization_id', 'name'] }],
  },
);

/** A project, as the API and the pages show it. */
export interface ShownProject {
  readonly id: string;
  readonly name: string;
}

const shown = (row: InstanceType<typeof Project>): ShownProject => row.get() as never as ShownProject;

/**
 * The projects of one organization. No other code of this app reads or writes the table, so no query can leave the
 * organization out.
 */
export function projectsOf(organizationId: string) {
  return {
    async list(): Promise<ShownProject[]> {
      const rows = await Project.findAll({ where: { organizationId }, order: [['name', 'ASC']] });
      return rows.map(shown);
    },
    async get(id: string): Promise<ShownProject | null> {
      const row = await Project.findOne({ where: { organizationId, id } });
      return row && shown(row);
    },
    /** Adds a project. Returns null if the organization has one with this name. */
    async add(name: string, transaction?: Transaction): Promise<ShownProject | null> {
      try {
        return shown(await Project.create({ organizationId, name }, { transaction: transaction ?? null }));
      } catch (error) {
        if (error instanceof UniqueConstraintError) return null;
        throw error;
      }
    },
    /** Renames a project. Returns whether the organization has it. */
    async rename(id: string, name: string): Promise<boolean> {
      return (await Project.update({ name }, { where: { organizationId, id } }))[0] === 1;
    },
    /** Deletes a project. Returns whether the organization had it. */
    async remove(id: string): Promise<boolean> {
      return (await Project.destroy({ where: { organizationId, id } })) === 1;
    },
  };
}

/** Returns the name in a body: 1 to 100 characters. Null if it is not valid. */
export function readName(body: unknown): string | null {
  const name = (body as { name?: unknown } | undefined)?.name;
  return typeof name === 'string' && name.trim() !== '' && name.length <= 100 ? name.trim() : null;
}
