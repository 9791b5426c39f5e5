import type { Core } from '../core/core.js';
import type { ClientInput } from '../sessions/client-input.js';
import { undoChange } from './undo.js';
import { codeFieldsOf } from './undo-proof.js';

/** What to show beside the token of an undo, as POST /undo-change takes it. */
export interface UndoInput extends ClientInput {
  /**
   * Whether the app has seen a proof of its own, such as support that knows the person: then no other is needed.
   * @default false
   */
  trusted?: boolean | undefined;
  /** The password as it was then. @default none */
  password?: string | undefined;
  /** A TOTP code as it was then. @default none */
  code?: string | undefined;
  /** A recovery code as it was then. @default none */
  recoveryCode?: string | undefined;
}

/** The way back into an account. */
export interface WayBackApi {
  /**
   * Undoes a change of an account and every later one, by the token of the notice about it: see POST /undo-change. Resolves
   * to the kind of that notice.
   *
   * @example
   * await auth.undoChange(token, { trusted: true });
   *
   * @throws AuthError `invalid_token` (400), `proof_required` (403), `invalid_credentials` (401), `rate_limited` (429), and
   *   what the hook `afterUpdateUser` throws
   */
  undoChange(token: string, input?: UndoInput): Promise<{ undone: string }>;
}

/** The programmatic API. */
export function wayBackApi(core: Core): WayBackApi {
  return {
    undoChange: (token, { trusted = false, ...input } = {}) =>
      core.forClient(input, async () => {
        const proof = { password: input.password, codes: codesOf(core, input) };
        const { undone } = await undoChange(core, token, trusted === true ? null : proof);
        return { undone };
      }),
  };
}

function codesOf(core: Core, { code, recoveryCode }: UndoInput): Readonly<Record<string, string>> {
  const given: Readonly<Record<string, string | undefined>> = { code, recovery_code: recoveryCode };
  return Object.fromEntries(
    codeFieldsOf(core).flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])),
  );
}
