import { expect, test } from '@jest/globals';
import { agree, demoInBrowser, inBrowser, says } from './browser.js';

const ada = { email: 'ada@example.com', username: 'ada', password: 'the analytical engine' };

inBrowser('the API keys of the demo app', () => {
  const demo = demoInBrowser();

  async function get(path: string, key: string) {
    const response = await fetch(demo.url(path), { headers: { 'X-Service-API-Key': key } });
    return [response.status, await response.json()];
  }

  test('a key that was created in the browser gives access according to its scopes until it is revoked', async () => {
    const page = await demo.openSignedUp(ada, '/api-keys');
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: demo.url('') });
    await page.getByLabel('Name').fill('nightly report');
    await page.getByLabel('reports:read').check();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('shown only once').waitFor();
    await page.getByRole('button', { name: 'Copy' }).click();
    await says(page, 'status', 'The key has been copied.');
    const key = await page.evaluate(() => navigator.clipboard.readText());
    await page
      .getByText(`${key.slice(0, 8)}`)
      .first()
      .waitFor();
    await page.getByText('reports:read · Expires').waitFor();

    expect(await page.locator('#curl').textContent()).toContain(`-H 'X-Service-API-Key: ${key}'`);
    const scrolls = ({ scrollWidth, clientWidth }: Element) => scrollWidth > clientWidth;
    expect(await page.locator('pre').evaluate(scrolls)).toBe(false);

    expect(await page.locator('#curl').textContent()).toContain('/api/reports');
    expect(await get('/api/hello', key)).toEqual([403, expect.objectContaining({ code: 'scope_required' })]);
    const [status, { sign_ins }] = await get('/api/reports', key);
    expect([status, sign_ins.length]).toEqual([200, 1]);
    expect(await get('/api/my-data', key)).toEqual([
      403,
      expect.objectContaining({ code: 'session_required' }),
    ]);

    await page.reload();
    await page.getByText('Last used').waitFor();
    expect(await page.content()).not.toContain(key);
    await page.getByRole('button', { name: 'Revoke nightly report' }).click();
    await agree(page, 'Revoke key');
    await says(page, 'status', 'The key “nightly report” has been revoked.');
    expect(await get('/api/hello', key)).toEqual([401, expect.objectContaining({ code: 'invalid_api_key' })]);
  });

  test('a key without the scope cannot access the reports', async () => {
    const page = await demo.openSignedIn(ada, '/api-keys');
    await page.getByLabel('Name').fill('greeter');
    await page.getByLabel('Expires').selectOption('Never');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('No scopes · Never expires · Never used').waitFor();
    const key = (await page.locator('#key').textContent()) ?? '';
    expect(await page.locator('#curl').textContent()).toContain('/api/hello');
    expect(await get('/api/hello', key)).toEqual([200, { hello: 'ada' }]);
    expect(await get('/api/reports', key)).toEqual([
      403,
      expect.objectContaining({ code: 'insufficient_scope' }),
    ]);
  });

  test('an invalid name is reported next to its field', async () => {
    const page = await demo.openSignedIn(ada, '/api-keys');
    await page.getByLabel('Name').fill('   ');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Name must be 1 to 100 visible characters long.').waitFor();
  });
});
