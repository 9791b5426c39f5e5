import createKnex from 'knex';
import config from './knexfile.js';

export const knex = createKnex(config);
