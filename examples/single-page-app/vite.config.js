import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  server: {
    // The browser sees one origin, in development too.
    proxy: { '^/(auth|api)/': process.env.API_URL ?? 'http://localhost:3000' },
  },
});
