import { useSession } from 'latchkey/react';
import { client } from './client.js';
import { Home } from './home.jsx';
import { SignIn } from './sign-in.jsx';

export function App() {
  const { status, error } = useSession(client);
  if (status === 'loading') return <p>{error ? error.detail : 'Loading…'}</p>;
  return status === 'signed_in' ? <Home /> : <SignIn />;
}
