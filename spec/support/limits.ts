import { type AnyAuth, internalsOf } from '../../lib/auth.js';
import type { LimitNames, WindowRule } from '../../lib/limits/limiter.js';

/** Replaces the rules of limits that the config cannot change. Null is no limit. */
export function setLimits(auth: AnyAuth, rules: { readonly [Name in keyof LimitNames]?: WindowRule | null }) {
  const { rateLimit } = internalsOf(auth).core.settings;
  for (const [name, rule] of Object.entries(rules))
    Object.assign(rateLimit?.rules ?? {}, {
      [name]: rule && { limit: rule.limit, windowMs: rule.window * 1000 },
    });
}
