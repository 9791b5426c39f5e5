// What bench/run.mjs passes to each figure.

/**
 * @typedef {object} Options
 * @property {boolean} quick short rounds that only prove that everything runs
 * @property {readonly ('mysql' | 'postgres' | 'sqlite')[]} dialects those to be measured
 * @property {readonly string[] | null} servers the beginnings of the names of servers to be measured. Null for all
 * @property {number} [sessions] the number of sessions, for `migrate-under-load`
 * @property {import('./databases.mjs').Databases} databases starts the database servers; they are stopped after the figure
 * @property {(line: string) => void} log prints progress
 */

export {};
