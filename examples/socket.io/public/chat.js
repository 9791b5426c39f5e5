const find = (id) => document.getElementById(id);
const socket = io({ autoConnect: false, reconnection: true });

function show(isSignedIn, status = '') {
  find('sign-in').hidden = isSignedIn;
  find('chat').hidden = !isSignedIn;
  find('status').textContent = status;
}

async function post(path, body) {
  const response = await fetch(`/auth${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  });
  if (!response.ok) throw new Error((await response.json()).detail);
}

socket.on('connect', () => show(true));
socket.on('connect_error', (error) => {
  // Without a session. When the server is down, socket.io tries again by itself.
  if (['unauthenticated', 'invalid_session'].includes(error.data?.code)) show(false);
});
socket.on('disconnect', (reason) => {
  if (reason === 'io server disconnect') show(false, 'Your session has ended.');
});
socket.on('said', ({ by, text }) => {
  find('messages').append(Object.assign(document.createElement('li'), { textContent: `${by}: ${text}` }));
});

find('sign-in').addEventListener('submit', async (event) => {
  event.preventDefault();
  const { email, password } = Object.fromEntries(new FormData(event.target));
  try {
    if (event.submitter.value === 'signup') await post('/signup/credential', { email, password });
    await post('/signin/credential', { credential: email, password });
    socket.connect();
  } catch (error) {
    show(false, error.message);
  }
});

find('say').addEventListener('submit', (event) => {
  event.preventDefault();
  socket.emit('say', event.target.text.value);
  event.target.reset();
});

find('sign-out').addEventListener('click', () => post('/signout'));
find('sign-out-everywhere').addEventListener('click', () => post('/revoke-sessions'));

socket.connect();
