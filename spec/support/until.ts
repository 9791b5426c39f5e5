const SECONDS = 30;

/** Waits until a condition is met, for changes that cause no event. @throws Error if it is not met in 30 seconds */
export async function until(isMet: () => unknown): Promise<void> {
  for (const end = performance.now() + SECONDS * 1000; !(await isMet()); ) {
    if (performance.now() > end) throw new Error(`not met in ${SECONDS} seconds: ${isMet}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
