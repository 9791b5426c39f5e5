import type { Page } from 'playwright-core';
import { says } from './browser.js';

/** Begins to switch the authenticator app on, on the page `/security`. Returns the secret that the app gets. */
export async function scan(page: Page): Promise<string> {
  await page.getByRole('button', { name: 'Switch on' }).click();
  await page.getByRole('img', { name: 'QR code for your authenticator app' }).waitFor();
  await page.getByText('You cannot scan it?').click();
  return (await page.locator('#secret').textContent()) ?? '';
}

/** Switches the authenticator app on. Returns its secret, and the recovery codes. */
export async function switchOn(page: Page, codeOf: (secret: string) => Promise<string>) {
  const secret = await scan(page);
  await page.getByLabel('Code from the app').fill(await codeOf(secret));
  await page.locator('#enrolment').getByRole('button', { name: 'Switch on' }).click();
  await says(page, 'status', 'The authenticator app is on.');
  return { secret, codes: await page.locator('#codes li').allTextContents() };
}
