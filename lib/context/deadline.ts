/**
 * Awaits work for a limited time. After that the work continues, but its outcome is ignored.
 *
 * @param late creates the error to throw on timeout
 * @param keepsAlive whether the process stays alive to see the timeout
 */
export async function withTimeout<T>(
  work: Promise<T>,
  ms: number,
  late: () => unknown,
  keepsAlive = true,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
    if (!keepsAlive) timer.unref();
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
