import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AuthError } from '../lib/index.js';
import { ada, password, type SpecApp, startApp } from './support/app.js';
import { expectProblem } from './support/problem.js';

let app: SpecApp<readonly [ReturnType<typeof password>]>;
beforeAll(async () => {
  app = await startApp({ plugins: [password({ username: true })] });
});
afterAll(() => app.stop());

describe('an AuthError from code', () => {
  test('names the fields that are not valid', async () => {
    const signUp = app.auth.credential.signUp({ email: 'ada', password: 'password1', username: 'x' });
    await expect(signUp).rejects.toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(
        /^validation_failed: \/email must be an email address.*; \/username must be 3 to 30.*; \/password is one of the most common passwords; choose another$/,
      ),
    });
  });

  test('has the message of its code, or the detail that it was given', () => {
    expect(new AuthError('unauthenticated').message).toBe('Sign in first: the request carries no session.');
    const error = new AuthError('unauthenticated', { detail: 'Not here.' });
    expect([error.message, error.detail]).toEqual(['Not here.', 'Not here.']);
    const errors = [{ pointer: '/name', code: 'required', detail: 'is missing' }];
    const invalid = new AuthError('validation_failed', { detail: 'Give a name.', errors });
    expect([invalid.message, invalid.detail]).toEqual([
      'validation_failed: /name is missing',
      'Give a name.',
    ]);
  });

  test('rejects an unknown code', () => {
    expect(() => new AuthError('no_such_code' as never)).toThrow(
      'latchkey: there is no error code no_such_code',
    );
  });
});

test('on the wire the fields are in errors, not in detail', async () => {
  const answer = await app.http.post('/auth/signup/credential').send({ ...ada, password: 'password1' });
  const problem = expectProblem(answer, 422, 'validation_failed');
  expect(problem.detail).toBe('The body is invalid: see errors.');
  expect(problem.errors).toMatchObject([{ pointer: '/password' }]);
});

test('the problem in docs/errors.md is the one that is sent', async () => {
  const { text } = await app.http
    .post('/auth/signup/credential')
    .send({ email: 'ada', password: 'password' });
  expect(await readFile(new URL('../docs/errors.md', import.meta.url), 'utf8')).toContain(text);
});
