import { call } from './api.js';
import { formatDate, formatSecond, onClick, row, showStatus, signedIn } from './page.js';
import { redirectTo, showFailure } from './providers.js';

const list = document.getElementById('providers');

async function load() {
  const [{ providers }, { accounts }] = await Promise.all([
    call('GET', '/api/providers'),
    call('GET', '/auth/oauth/accounts'),
  ]);
  list.replaceChildren(
    ...providers.map(({ id, name }) => {
      const account = accounts.find(({ provider }) => provider === id);
      return account ? linked(name, account) : notLinked(name, id);
    }),
  );
}

function linked(name, account) {
  const li = row('linked', {
    name: capitalized(name),
    account: account.provider_account_id,
    since: formatDate(account.created_at),
    scopes: account.scopes.join(', '),
    expires: account.access_token_expires_at ? formatSecond(account.access_token_expires_at) : 'Never',
  });
  const [refresh, unlink] = li.querySelectorAll('button');
  onClick(refresh, () => refreshTokens(account.provider, name));
  onClick(unlink, async () => {
    await call('DELETE', `/auth/oauth/${account.provider}/unlink`);
    await load();
    showStatus(`Your account at ${name} has been unlinked.`);
  });
  return li;
}

function notLinked(name, id) {
  const li = row('not-linked', { name: capitalized(name), link: `Link ${name}` });
  onClick(li.querySelector('button'), () => redirectTo(id, 'link'));
  return li;
}

/** The tokens are for calls to the provider's API. The page does not show them. */
async function refreshTokens(provider, name) {
  const before = await call('GET', `/auth/oauth/${provider}/tokens`);
  const after = await call('POST', `/auth/oauth/${provider}/tokens/refresh`);
  await load();
  const changed = before.access_token !== after.access_token;
  showStatus(changed ? `Received new tokens from ${name}.` : `The tokens from ${name} have not changed.`);
}

const capitalized = (name) => name[0].toUpperCase() + name.slice(1);

signedIn(async () => {
  await load();
  showFailure();
});
