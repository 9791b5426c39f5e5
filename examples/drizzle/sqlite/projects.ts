import { type Client, createClient } from '@libsql/client';
import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql';
import { url } from '../database.js';
import { authUsers } from './latchkey.js';
import { projects } from './schema.js';

const client = createClient({ url: url.replace('sqlite:', 'file:') });
const db = drizzle(client);

export const close = async () => client.close();

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
  const connection = await client.transaction('write');
  try {
    const ownerId = await signUp(connection);
    await drizzle(connection as unknown as Client)
      .insert(projects)
      .values({ ownerId, title });
    await connection.commit();
    return ownerId;
  } finally {
    // Rolls back, unless it was committed.
    connection.close();
  }
}
