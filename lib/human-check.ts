export type { HumanCheckFacts, HumanCheckOptions, HumanCheckRoute } from './config/human-check.js';
export { type AltchaOptions, altcha } from './human-check/altcha.js';
export { hcaptcha, type ServiceOptions, turnstile } from './human-check/services.js';
