import * as z from 'zod';
import type { Core } from '../core/core.js';
import { type FORM_PAGES, SECOND_FACTOR_TO } from './form-pages.js';
import { type Route, takesForms } from './route.js';

const FORM = 'application/x-www-form-urlencoded';

export const FORM_ANSWER = {
  description:
    'For a form: redirect to redirect_to or, with ?error=<code>, to error_to or the page that sent it',
};

const PAGES = {
  redirect_to: {
    type: 'string',
    description:
      'Where to redirect afterwards: a path of this app, or a URL of a trusted origin. By default /',
  },
  error_to: {
    type: 'string',
    description: 'Likewise, after an error. By default the page that sent the form',
  },
} satisfies Record<(typeof FORM_PAGES)[number], object>;

const PAGE_OF_SECOND_FACTOR = {
  type: 'string',
  description: 'Likewise, if the account requires a second factor. By default /second-factor',
};

/**
 * Describes the body of a request: as JSON, as a form, or as both.
 *
 * @param name the name of its schema among `schemas`
 */
export function requestBody(
  core: Core,
  route: Route,
  name: string | undefined,
  schemas: Readonly<Record<string, unknown>>,
): { requestBody?: object } {
  if (route.formPost)
    return { requestBody: { required: true, content: { [FORM]: schemaOf(route.formPost) } } };
  const isForm = takesForms(core.settings, route);
  if (!name && !isForm) return {};
  const mayWait = Object.values(route.answers).some((answer) => answer.mayWait);
  const pages = { ...PAGES, ...(mayWait && { [SECOND_FACTOR_TO]: PAGE_OF_SECOND_FACTOR }) };
  const content = {
    ...(name && route.forms !== 'only' && json(name)),
    ...(isForm && { [FORM]: { schema: withPages(name ? schemas[name] : NO_FIELDS, pages) } }),
  };
  return { requestBody: { required: name !== undefined && route.method !== 'delete', content } };
}

function schemaOf(type: z.ZodType) {
  const { $schema, ...schema } = z.toJSONSchema(type, { io: 'input' });
  return { schema };
}

const NO_FIELDS = { type: 'object', properties: {}, additionalProperties: false };

/** The schema of a body, with the fields that say where the answer to a form leads. */
function withPages(body: unknown, pages: object): object {
  const { properties, anyOf, oneOf, ...schema } = body as Record<'properties', object | undefined> &
    Record<'anyOf' | 'oneOf', object[] | undefined>;
  const each = (variants: object[]) => variants.map((variant) => withPages(variant, pages));
  return {
    ...schema,
    ...(properties && { properties: { ...properties, ...pages } }),
    ...(anyOf && { anyOf: each(anyOf) }),
    ...(oneOf && { oneOf: each(oneOf) }),
  };
}

export function json(name: string | undefined) {
  return { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } };
}
