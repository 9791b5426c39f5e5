import * as z from 'zod';
import type { PageOptions } from '../tables/pages.js';
import { text } from './schemas.js';

/** The query parameters of a paginated list. */
export const pageQuery = {
  limit: z
    .string()
    .regex(/^[1-9]\d{0,2}$/, 'must be a whole number from 1 to 200')
    .optional(),
  cursor: text(100).optional(),
};

export function pageOptions({
  limit,
  cursor,
}: {
  limit?: string | undefined;
  cursor?: string | undefined;
}): PageOptions {
  return { ...(limit && { limit: Number(limit) }), ...(cursor !== undefined && { cursor }) };
}
