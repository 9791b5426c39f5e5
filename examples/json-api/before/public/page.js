const find = (id) => document.getElementById(id);
let token = sessionStorage.getItem('token');

async function call(method, path, body) {
  const response = await fetch(`/api${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (response.ok) return answer;
  throw new Error(
    Object.entries(answer.errors)
      .map(([field, reasons]) => `${field} ${reasons.join()}`)
      .join(),
  );
}

async function showArticles() {
  const { articles } = await call('GET', '/articles');
  const items = articles.map(({ title, author }) => {
    return Object.assign(document.createElement('li'), { textContent: `${title} by ${author.handle}` });
  });
  find('articles').replaceChildren(...items);
}

function showUser(user) {
  find('sign-in').hidden = Boolean(user);
  find('write').hidden = !user;
  find('handle').textContent = user?.handle ?? '';
}

function onSubmit(id, work) {
  find(id).addEventListener('submit', async (event) => {
    event.preventDefault();
    find('status').textContent = '';
    try {
      await work(Object.fromEntries(new FormData(event.target)));
      event.target.reset();
    } catch (error) {
      find('status').textContent = error.message;
    }
  });
}

onSubmit('sign-in', async (user) => {
  const answer = await call('POST', '/users/login', { user });
  token = answer.user.token;
  sessionStorage.setItem('token', token);
  showUser(answer.user);
});
onSubmit('write', async (article) => {
  await call('POST', '/articles', { article });
  await showArticles();
});

await showArticles();
if (token) showUser((await call('GET', '/user').catch(() => ({}))).user);
