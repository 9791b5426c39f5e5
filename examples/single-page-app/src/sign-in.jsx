import { useState } from 'react';
import { client } from './client.js';

export function SignIn() {
  const [error, setError] = useState(null);

  async function submit(event) {
    event.preventDefault();
    const { email, password } = Object.fromEntries(new FormData(event.currentTarget));
    const isNew = event.nativeEvent.submitter.name === 'new';
    const result = isNew
      ? await client.credential.signUp({ email, password })
      : await client.credential.signIn({ credential: email, password });
    setError(result.error);
  }

  return (
    <form onSubmit={submit}>
      <h1>Sign in</h1>
      {error && <p role="alert">{error.detail}</p>}
      <label>
        Email <input name="email" type="email" autoComplete="username" required />
      </label>
      <label>
        Password <input name="password" type="password" autoComplete="current-password" required />
      </label>
      <button type="submit">Sign in</button>
      <button type="submit" name="new">
        Create an account
      </button>
    </form>
  );
}
