import type { Request, RequestHandler } from 'express';
import { type Auth, internalsOf } from '../auth.js';
import type { Authentication, Via } from '../carriers/carrier.js';
import type { AuthConfig } from '../config.js';
import type { Core } from '../core.js';
import { AuthError } from '../errors.js';
import { answerError } from '../http/problem.js';
import type { Plugin } from '../plugin.js';
import type { GuardOptions } from './options.js';

const VIAS: readonly Via[] = ['cookie', 'bearer', 'api-key'];

/** How to switch on what is not always on. */
const MENDS: Partial<Record<Via, string>> = {
  bearer: 'set bearerEnabled: true',
  'api-key': 'add apiKeys() to plugins',
};

/** What routers and guards take: an Auth, or the config that makes one. */
export type AuthOrConfig = Auth | AuthConfig<readonly Plugin[]>;

/** A middleware that finds out who makes a request, puts it on `req.auth` and goes on, or refuses. */
export function guard(
  name: string,
  authOrConfig: AuthOrConfig,
  options: GuardOptions,
  decide: (core: Core, req: Request) => Promise<Authentication | null>,
  check?: (core: Core, authentication: Authentication) => void,
): RequestHandler {
  const { core } = internalsOf(authOrConfig);
  const { accept, onError } = checked(name, options);
  if (accept) refuseWhatIsOff(name, accept, core);
  return async (req, res, next) => {
    try {
      const authentication = await decide(core, req);
      if (authentication) {
        if (accept && !accept.includes(authentication.via)) throw notAccepted(authentication.via, accept);
        check?.(core, authentication);
        req.auth = authentication;
      }
    } catch (error) {
      if (!onError || !(error instanceof AuthError)) return answerError(core, error, res, next);
      try {
        // Awaited, because Express 4 does not look after a promise that a handler leaves behind.
        await onError(error, req, res, next);
      } catch (thrown) {
        next(thrown);
      }
      return;
    }
    next();
  };
}

function notAccepted(via: Via, accept: readonly Via[]): AuthError {
  if (via === 'api-key') return new AuthError('session_required');
  return new AuthError('unauthenticated', {
    detail: `Sign in by ${accept.join(' or ')}: this route takes nothing else.`,
  });
}

function checked(name: string, { onError, accept, ...unknown }: GuardOptions): GuardOptions {
  const [key] = Object.keys(unknown);
  if (key) throw new TypeError(`latchkey: ${name} has no option ${key}`);
  if (onError !== undefined && typeof onError !== 'function') {
    throw new TypeError(`latchkey: ${name}'s onError must be a function`);
  }
  if (accept !== undefined && !isListOfVias(accept)) {
    throw new TypeError(`latchkey: ${name}'s accept must list one or more of ${VIAS.join(', ')}`);
  }
  return { ...(onError && { onError }), ...(accept && { accept }) };
}

/** A guard that nobody can ever pass was meant otherwise. */
function refuseWhatIsOff(name: string, accept: readonly Via[], { carriers }: Core): void {
  if (carriers.some(({ via }) => accept.includes(via))) return;
  const vias = [...new Set(accept)];
  const mends = vias.map((via) => MENDS[via]).filter(Boolean);
  throw new TypeError(
    `latchkey: ${name} accepts only ${vias.join(' and ')}, which ${vias.length > 1 ? 'are' : 'is'} off: ${mends.join(', or ')}`,
  );
}

function isListOfVias(accept: unknown): boolean {
  return Array.isArray(accept) && accept.length > 0 && accept.every((via) => VIAS.includes(via));
}
