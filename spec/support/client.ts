import { Agent, type Server } from 'node:http';
import request from 'supertest';

/**
 * The connections of the specs' clients. They stay open for later requests, like a browser's, because opening one for
 * each request is a large part of the work of a spec with many requests.
 */
export const connections = new Agent({ keepAlive: true });

const keepOpen = (one: { agent?(agent: Agent): unknown }) => void one.agent?.(connections);

/** A client with its own cookie jar. */
export function browserOf(server: Server): ReturnType<typeof request.agent> {
  return request.agent(server).use(keepOpen as never);
}

/** A client without a cookie jar. */
export function clientOf(server: Server): ReturnType<typeof request> {
  const client = request(server);
  const methods = Object.entries(client) as [string, (url: string) => request.Test][];
  const kept = methods.map(([name, start]) => [name, (url: string) => start(url).use(keepOpen as never)]);
  return Object.fromEntries(kept);
}
