import { useEffect, useState } from 'react';
import { client } from './client.js';

export function Home() {
  const [greeting, setGreeting] = useState('');

  useEffect(() => {
    const controller = new AbortController();
    greetingOf(controller.signal).then(setGreeting, () => undefined);
    return () => controller.abort();
  }, []);

  return (
    <>
      <h1>{greeting}</h1>
      <button type="button" onClick={() => client.signOut()}>
        Sign out
      </button>
    </>
  );
}

/** Requests one of the app's own routes. The browser sends the cookie, because the route has the same origin. */
async function greetingOf(signal) {
  const response = await fetch('/api/greeting', { signal });
  // The session has ended in the meantime, so the store has to ask again.
  if (response.status === 401) await client.session.refresh();
  return response.ok ? (await response.json()).greeting : '';
}
