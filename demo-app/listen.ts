import type { Server } from 'node:http';

/** Waits until a server listens. If its port is taken, prints what to do and exits the process. */
export async function listen(server: Server, port: number, host: string, variable: string): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    console.error(
      `Port ${port} is taken by another program. Choose another: ${variable}=${port + 2} npm run demo`,
    );
    process.exit(1);
  }
}
