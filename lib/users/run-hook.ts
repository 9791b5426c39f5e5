import type { CallContext } from '../context/call.js';
import { AppError } from '../database/faults.js';
import { AuthError } from '../errors.js';

/**
 * Runs the app's code within a transaction. What it throws reaches the app, not the code that handles the database. Its
 * own calls to latchkey are part of the transaction only if they name it.
 */
export async function runHook<T>(context: CallContext, hook: () => T | Promise<T>): Promise<T> {
  try {
    return await context.forApp(hook);
  } catch (error) {
    throw error instanceof AuthError ? error : new AppError(error);
  }
}
