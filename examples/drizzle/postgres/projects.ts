import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { url } from '../database.js';
import { authUsers } from './latchkey.js';
import { projects } from './schema.js';

const pool = new pg.Pool({ connectionString: url });
const db = drizzle(pool);

export const close = () => pool.end();

export function projectsOf(userId: string): Promise<{ title: string; owner: string | null }[]> {
  return db
    .select({ title: projects.title, owner: authUsers.email })
    .from(projects)
    .innerJoin(authUsers, eq(authUsers.id, projects.ownerId))
    .where(eq(projects.ownerId, userId))
    .orderBy(projects.id);
}

export async function addProject(ownerId: string, title: string): Promise<void> {
  await db.insert(projects).values({ ownerId, title });
}

/**
 * Creates an account and its project in one transaction.
 *
 * @param signUp creates the account on the connection of the transaction, and returns its id
 */
export async function joinWithProject(
  title: string,
  signUp: (connection: object) => Promise<string>,
): Promise<string> {
  const connection = await pool.connect();
  try {
    return await drizzle(connection).transaction(async (tx) => {
      const ownerId = await signUp(connection);
      await tx.insert(projects).values({ ownerId, title });
      return ownerId;
    });
  } finally {
    connection.release();
  }
}
