import { createServer } from 'node:http';
import express from 'express';
import { AuthError, authRouter, createAuth, credentialPassword } from 'latchkey';
import { Server } from 'socket.io';

const auth = createAuth({
  database: process.env.DATABASE_URL ?? 'sqlite:./app.db',
  secret: process.env.AUTH_SECRET,
  plugins: [credentialPassword()],
});
await auth.migrate();

const app = express();
app.use('/auth', authRouter(auth));
app.use(express.static('public'));

const server = createServer(app);
const io = new Server(server);

// A socket can change data. So, like a POST request, it must come from a page of this app.
const authenticate = ({ handshake: { headers, address } }) =>
  auth.getSession({ headers, ip: address, method: 'POST' });

io.use(async (socket, next) => {
  try {
    socket.data.auth = await authenticate(socket);
    next();
  } catch (error) {
    const code = error instanceof AuthError ? error.code : 'unavailable';
    next(Object.assign(new Error(code), { data: { code } }));
  }
});

io.on('connection', (socket) => {
  const { user, session } = socket.data.auth;
  if (session) socket.join(`session:${session.id}`);
  // Check again, because the session might have ended before the socket was in its room.
  authenticate(socket).catch(() => socket.disconnect(true));
  socket.on('say', (text) => io.emit('said', { by: user.email, text: String(text).slice(0, 500) }));
});

auth.on('session.revoked', ({ sessionId }) => {
  io.in(`session:${sessionId}`).disconnectSockets(true);
});

server.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(`Listening on http://localhost:${server.address().port}`);
});

process.once('SIGTERM', () => {
  io.close(() => auth.close());
});
