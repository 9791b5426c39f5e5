import { z } from 'zod';
import type { Core } from '../../../core/core.js';
import { pageOptions, pageQuery } from '../../../http/page.js';
import { resources } from '../../../http/present.js';
import { route } from '../../../http/route.js';
import { text } from '../../../http/schemas.js';
import type { AdminApi } from '../api.js';

export const listUsers = (core: Core, api: AdminApi) => {
  const { userForAdmins: user } = resources(core);
  return route({
    method: 'get',
    path: '/admin/users',
    summary: 'List users, newest first',
    access: 'admin',
    query: z.object({
      ...pageQuery,
      search: z.union([z.literal(''), text(254)]).optional(),
    }),
    answers: {
      200: {
        description: 'A page of users, and the cursor of the next page',
        schema: z.object({ users: z.array(user.schema), next_cursor: z.string().nullable() }),
      },
    },
    async handle({ query: { search, ...query } }) {
      const page = await api.listUsers({ ...pageOptions(query), ...(search !== undefined && { search }) });
      return { status: 200, body: { users: page.users.map(user.present), next_cursor: page.nextCursor } };
    },
  });
};

export const getUser = (core: Core, api: AdminApi) => {
  const { userForAdmins: user } = resources(core);
  return route({
    method: 'get',
    path: '/admin/users/:id',
    summary: 'Get a user',
    access: 'admin',
    answers: { 200: { description: 'The user', schema: z.object({ user: user.schema }) } },
    problems: ['user_not_found'],
    async handle({ params: { id = '' } }) {
      return { status: 200, body: { user: user.present(await api.getUser(id)) } };
    },
  });
};
