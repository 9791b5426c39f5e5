import { Agent, type Server } from 'node:http';
import request from 'supertest';

/**
 * The connections of the specs' clients. They stay open for later requests, like a browser's, because opening one for
 * each request is a large part of the work of a spec with many requests.
 */
export const connections = new Agent({ keepAlive: true });

const keepOpen = (one: { agent?(agent: Agent): unknown }) => void one.agent?.(connections);

/**
 * Makes a server keep idle connections. Otherwise it closes each after five seconds, on a busy machine at the moment when a
 * client uses it again.
 */
export function keepingIdle<S extends Server>(server: S): S {
  server.keepAliveTimeout = 120_000;
  return server;
}

/** The part of an agent's cookie jar that decides which cookies it sends. */
interface Jar {
  getCookies(info: { readonly secure: boolean }): unknown;
}

/**
 * A client with its own cookie jar.
 *
 * @param isSecure whether it sends Secure cookies too, like a browser whose proxy serves the app over https
 */
export function browserOf(server: Server, isSecure = false): ReturnType<typeof request.agent> {
  const agent = request.agent(server).use(keepOpen as never);
  if (isSecure) {
    const jar = agent.jar as unknown as Jar;
    const getCookies = jar.getCookies.bind(jar);
    jar.getCookies = (info) => getCookies({ ...info, secure: true });
  }
  return agent;
}

/** A client without a cookie jar. */
export function clientOf(server: Server): ReturnType<typeof request> {
  const client = request(server);
  const methods = Object.entries(client) as [string, (url: string) => request.Test][];
  const kept = methods.map(([name, start]) => [name, (url: string) => start(url).use(keepOpen as never)]);
  return Object.fromEntries(kept);
}
