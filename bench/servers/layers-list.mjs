/** What latchkey's guard does, in the order in which bench/servers/layers.mjs adds it. */
export const LAYERS = [
  { name: 'node', what: "Node's http with a constant text" },
  { name: 'express', what: 'Express, and its route' },
  { name: 'json', what: '`res.json` instead of a constant text' },
  { name: 'cookie', what: 'a middleware that reads the cookie' },
  { name: 'form', what: "the token's form and its checksum" },
  { name: 'digest', what: "the token's SHA-256" },
  { name: 'promises', what: 'the guard as a chain of five asynchronous functions' },
  { name: 'batch', what: 'a batch: waiting for the lookups of the same turn' },
  { name: 'query', what: 'the SELECT for the batch, by mysql2 and its pool, with times as text' },
  { name: 'dates', what: 'times as dates' },
  { name: 'rows', what: 'the user and the session, read from the row, in the response' },
  { name: 'sequelize', what: "a connection of Sequelize's pool instead" },
  { name: 'deadline', what: 'two deadlines for the batch' },
  { name: 'context', what: "AsyncLocalStorage: the call's context" },
];
