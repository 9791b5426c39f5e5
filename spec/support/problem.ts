import { STATUS_CODES } from 'node:http';
import { expect } from '@jest/globals';
import type { Response } from 'supertest';

/**
 * Checks that a response is a well-formed problem response of latchkey (RFC 9457), and returns its body.
 *
 * @param missing the missing proofs that `proof_required` must name. By default, they are not compared
 */
export function expectProblem(
  response: Response,
  status: number,
  code: string,
  missing: readonly string[] | undefined = response.body?.missing,
) {
  expect([response.status, response.body?.code ?? response.text]).toEqual([status, code]);
  expect(response.headers['content-type']).toBe('application/problem+json; charset=utf-8');
  expect(response.headers['cache-control']).toBe('no-store');
  expect(response.body).toEqual({
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    code,
    detail: expect.stringMatching(/^\w.+/),
    ...(code === 'proof_required' && { missing: missing ?? expect.any(Array) }),
    ...(code === 'task_required' && { task: expect.stringMatching(/^[a-z_]+$/) }),
    ...(response.body.errors && { errors: expect.any(Array) }),
  });
  expect(response.headers['www-authenticate'] !== undefined).toBe(status === 401);
  return response.body as { errors?: { pointer: string; code: string; detail: string }[]; detail: string };
}
