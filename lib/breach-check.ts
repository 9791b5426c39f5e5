/** The entry point `latchkey/breach-check`: a check for `isBreached` of `credentialPassword()`. */
export {
  type HaveIBeenPwnedOptions,
  haveIBeenPwned,
} from './plugins/credential-password/have-i-been-pwned.js';
