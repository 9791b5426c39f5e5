// Written by `npm run client` from the declarations of the routes: do not edit.

/** The error codes of a request without a session, for an account that is pending deletion or suspended. */
export type ClosedCode = 'account_deleted' | 'account_suspended';

/** The error codes of every GET route that requires a session. */
export type ReadingCode =
  | ClosedCode
  | 'acting_session'
  | 'ambiguous_credentials'
  | 'invalid_api_key'
  | 'invalid_session'
  | 'session_required'
  | 'unauthenticated'
  | 'unavailable';

/** The error codes of every other route. */
export type SendingCode =
  | 'body_too_large'
  | 'body_too_slow'
  | 'invalid_json'
  | 'invalid_request'
  | 'origin_not_allowed'
  | 'unavailable'
  | 'unsupported_media_type'
  | 'validation_failed';

/** The error codes of every other route that requires a session. */
export type ChangingCode = SendingCode | ReadingCode;

/** The error codes of a change that requires a recent sign-in. */
export type FreshCode = ChangingCode | 'reauthentication_required' | 'second_factor_required';

/** The error codes of a change that requires a recent sign-in or the password. */
export type FreshOrPasswordCode =
  | FreshCode
  | 'invalid_credentials'
  | 'new_password_required'
  | 'rate_limited';
