const SECONDS = 30;

/**
 * Waits until a condition is met, for changes that cause no event.
 *
 * @param everyMs how often to look
 * @throws Error if it is not met in 30 seconds
 */
export async function until(isMet: () => unknown, everyMs = 5): Promise<void> {
  for (const end = performance.now() + SECONDS * 1000; !(await isMet()); ) {
    if (performance.now() > end) throw new Error(`not met in ${SECONDS} seconds: ${isMet}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
