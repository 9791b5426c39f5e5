import { createTransport } from 'nodemailer';
import { SMTPServer } from 'smtp-server';
import { nodemailerEmail } from '../../lib/nodemailer.js';
import { freePort } from './free-port.mjs';

export interface ReceivedMail {
  readonly to: string;
  readonly source: string;
}

const NO_MAILBOX = 'no such mailbox here';

/** A real mail server, which can be stopped and started again on its port. */
export async function startSmtp() {
  const mails: ReceivedMail[] = [];
  const waiting = new Set<() => void>();
  let refuses: (to: string) => number | false = () => false;
  let reason = NO_MAILBOX;
  let server: SMTPServer | null = null;
  const port = await freePort();
  const start = async () => {
    server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onRcptTo: ({ address }, _session, done) => {
        const responseCode = refuses(address);
        done(responseCode ? Object.assign(new Error(reason), { responseCode }) : null);
      },
      onData(stream, { envelope }, done) {
        let source = '';
        stream.on('data', (chunk) => {
          source += chunk;
        });
        stream.on('end', () => {
          for (const { address } of envelope.rcptTo) mails.push({ to: address, source });
          done();
          for (const look of waiting) look();
        });
      },
    });
    const listening = server;
    await new Promise<void>((resolve) => listening.listen(port, '127.0.0.1', resolve));
  };
  const stop = async () => {
    const stopping = server;
    server = null;
    if (stopping) await new Promise<void>((resolve) => stopping.close(resolve));
  };
  await start();
  return {
    mails,
    start,
    stop,
    port,
    /** Rejects addresses with the code that `which` returns for them. */
    refuse(which: (to: string) => number | false, because = NO_MAILBOX) {
      refuses = which;
      reason = because;
    },
    /** Resolves once this many emails have arrived. */
    async arrived(count: number): Promise<void> {
      await new Promise<void>((resolve) => {
        const look = () => {
          if (mails.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      });
    },
  };
}

/** The `email` of an app that sends to a mail server on this machine. */
export function smtpEmail(port: number) {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  return nodemailerEmail(transport, { from: 'The app <app@example.com>' });
}

/** The token in the first link of an email. */
export function tokenIn({ source }: ReceivedMail): string {
  const text = source.replaceAll('=\r\n', '').replaceAll('=3D', '=');
  return /token=([\w-]+)/.exec(text)?.[1] ?? '';
}
