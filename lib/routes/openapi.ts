import * as z from 'zod';
import type { Core } from '../core/core.js';
import { describeApi } from '../http/openapi.js';
import { type Route, route } from '../http/route.js';

/** @param routes all enabled routes, including this one */
export const openapi = (core: Core, routes: readonly Route[]) =>
  route({
    method: 'get',
    path: '/openapi.json',
    summary: 'Get the OpenAPI 3.1 document of these routes',
    access: 'public',
    answers: { 200: { description: 'The document', schema: z.looseObject({ openapi: z.string() }) } },
    async handle({ req }) {
      return { status: 200, body: describeApi(core, routes, req.baseUrl) };
    },
  });
