import type { Request, RequestHandler, Response } from 'express';
import { type AnyAuth, internalsOf } from '../auth.js';
import type { AuthConfig } from '../config/config.js';
import type { Core } from '../core/core.js';
import { switchesOfVias } from '../core/switches.js';
import { AuthError } from '../errors.js';
import { answerError, forExpress } from '../http/problem.js';
import type { Plugin } from '../plugin.js';
import type { Authentication, Via } from '../sessions/request.js';
import type { GuardOptions } from './options.js';
import { setAuthentication } from './request.js';

/** An Auth, or the config to create one: the first argument of the router and the guards. */
export type AuthOrConfig = AnyAuth | AuthConfig<readonly Plugin[]>;

/** A middleware that authenticates a request and sets or clears `req.auth`, or responds with a problem. */
export function guard<A extends Authentication | null>(
  name: string,
  authOrConfig: AuthOrConfig,
  options: GuardOptions,
  decide: (core: Core, req: Request, res: Response) => Promise<A>,
  check?: (core: Core, authentication: A) => void,
): RequestHandler {
  const { core } = internalsOf(authOrConfig);
  const { accept, onError } = checked(name, options, core);
  return async (req, res, next) => {
    // An earlier guard, perhaps of another Auth, may have set it. Only the last guard's result counts.
    setAuthentication(core, req, null);
    try {
      const authentication = await decide(core, req, res);
      if (authentication && accept && !accept.includes(authentication.via))
        throw notAccepted(core, authentication, accept);
      check?.(core, authentication);
      if (authentication) setAuthentication(core, req, authentication);
    } catch (error) {
      if (!onError || !(error instanceof AuthError)) return answerError(core, error, res, next);
      try {
        // Awaited, because Express 4 does not handle rejections.
        await onError(error, req, res, next);
      } catch (thrown) {
        next(forExpress(thrown));
      }
      return;
    }
    next();
  };
}

function notAccepted(core: Core, { via }: Authentication, accept: readonly Via[]): AuthError {
  const carrier = core.carriers.find((one) => one.via === via);
  if (!carrier?.carriesSession) return new AuthError('session_required');
  return new AuthError('unauthenticated', {
    detail: `Sign in by ${accept.join(' or ')}: this route accepts no other credential.`,
  });
}

function checked(name: string, { onError, accept, ...unknown }: GuardOptions, core: Core): GuardOptions {
  const [key] = Object.keys(unknown);
  if (key) throw new TypeError(`latchkey: ${name} has no option ${key}`);
  if (onError !== undefined && typeof onError !== 'function') {
    throw new TypeError(`latchkey: ${name}'s onError must be a function`);
  }
  if (accept !== undefined) checkAccept(name, accept, core);
  return { ...(onError && { onError }), ...(accept && { accept }) };
}

/** Rejects a guard that no request could pass. */
function checkAccept(name: string, accept: unknown, { carriers }: Core): void {
  const on = carriers.map(({ via }) => via);
  const vias: readonly string[] = ['cookie', ...switchesOfVias.keys()];
  if (!Array.isArray(accept) || accept.length === 0 || !accept.every((via) => vias.includes(via))) {
    throw new TypeError(`latchkey: ${name}'s accept must list one or more of ${vias.join(', ')}`);
  }
  if (accept.some((via) => on.includes(via))) return;
  const off = [...new Set(accept)];
  throw new TypeError(
    `latchkey: ${name} accepts only ${off.join(' and ')}, which ${off.length > 1 ? 'are' : 'is'} not enabled: ${off.map((via) => switchesOfVias.get(via)).join(', or ')}`,
  );
}
