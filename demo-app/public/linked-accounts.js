import { onClick, signedIn } from './actions.js';
import { call } from './api.js';
import { confirmed } from './confirm.js';
import { fillList, formatDate, formatSecond, moveFocus, row } from './page.js';
import { redirectTo } from './providers.js';
import { withFreshSignIn } from './reauthenticate.js';

const list = document.getElementById('providers');

async function load() {
  const [{ providers }, { accounts }] = await Promise.all([
    call('GET', '/api/providers'),
    call('GET', '/auth/oauth/accounts'),
  ]);
  fillList(
    list,
    providers.map((provider) => {
      const li = row('provider', {});
      show(
        li,
        provider,
        accounts.find((account) => account.provider === provider.id),
      );
      return li;
    }),
  );
}

/** Shows whether a provider is linked. Only the content is replaced, so that the messages next to it stay. */
function show(li, provider, account) {
  li.firstElementChild.replaceWith(account ? linked(li, provider, account) : notLinked(provider));
}

function linked(li, provider, account) {
  const { id, name } = provider;
  const content = row('linked', {
    name: capitalized(name),
    account: account.provider_account_id,
    since: formatDate(account.created_at),
    scopes: account.scopes.join(', '),
    expires: expiry(account.access_token_expires_at),
  });
  const [refresh, linkAgain, unlink] = content.querySelectorAll('button');
  refresh.setAttribute('aria-label', `Refresh tokens of ${name}`);
  onClick(refresh, async () => {
    try {
      return await refreshTokens(provider, content);
    } catch (problem) {
      linkAgain.hidden = !['relink_required', 'refresh_token_missing'].includes(problem.code);
      throw problem;
    }
  });
  onClick(linkAgain, () => link(id));
  unlink.setAttribute('aria-label', `Unlink ${name}`);
  onClick(unlink, async () => {
    const title = `Unlink ${name}?`;
    const text = 'You will no longer be able to sign in with it. You can link it again later.';
    if (!(await confirmed({ title, text, action: 'Unlink account' }))) return;
    if (!(await withFreshSignIn(() => call('DELETE', `/auth/oauth/${id}/unlink`)))) return;
    show(li, provider, undefined);
    moveFocus(li);
    return `Your account at ${name} has been unlinked.`;
  });
  return content;
}

function notLinked({ id, name }) {
  const content = row('not-linked', { name: capitalized(name), link: `Link ${name}` });
  onClick(content.querySelector('button'), () => link(id));
  return content;
}

const link = (id) => withFreshSignIn(() => redirectTo(id, 'link'));

/** The tokens are for calls to the provider's API. The page does not show them. */
async function refreshTokens({ id, name }, content) {
  const before = await call('GET', `/auth/oauth/${id}/tokens`);
  const after = await call('POST', `/auth/oauth/${id}/tokens/refresh`);
  content.querySelector('[data-text=expires]').textContent = expiry(after.access_token_expires_at);
  const changed = before.access_token !== after.access_token;
  return changed ? `Received new tokens from ${name}.` : `The tokens from ${name} have not changed.`;
}

const expiry = (iso) => (iso ? formatSecond(iso) : 'Never');
const capitalized = (name) => name[0].toUpperCase() + name.slice(1);

signedIn(load);
