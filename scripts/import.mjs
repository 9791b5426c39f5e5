// Measures auth.movingIn.importUsers: an import that breaks off after 60 %, and the same import again.
//
//   node --expose-gc --import tsx scripts/import.mjs 20000 sqlite:./import.db
//
// The database must be empty. Prints how long both took, what is on the heap during the second one, and whether its report
// is that of a dry run beforehand.
import { createAuth, credentialPassword, oauth, twoFactor } from '../lib/index.ts';
import { movingIn } from '../lib/moving-in.ts';
import { github } from '../lib/providers.ts';

const [count, database] = [Number(process.argv[2] ?? 20_000), process.argv[3] ?? 'sqlite:./import.db'];
const client = { clientId: 'id', clientSecret: 'secret' };
const auth = createAuth({
  database,
  secret: 'a secret for a measurement, of 32 bytes',
  baseUrl: 'http://localhost:3000',
  plugins: [credentialPassword(), oauth(), github(client), twoFactor(), movingIn()],
});
await auth.migrate();

/** Each with a password and a link to a provider, and every tenth with a second factor. */
async function* rows(breaksAt = Number.POSITIVE_INFINITY) {
  for (let index = 0; index < count; index++) {
    if (index >= breaksAt) throw new Error('broken off');
    const codes = Array.from({ length: 10 }, (_, code) => `${index}-recovery-code-${code}`);
    yield {
      ref: index,
      email: `user-${index}@example.com`,
      passwordHash: '$2y$05$b4arMjmQm5Cghbd7RLH8rOmlm8QIxdxETXnBzWzGYMXNsDwA4U8Ae',
      createdAt: new Date(Date.UTC(2021, 0, 1) + index * 1000),
      accounts: [{ provider: 'github', subject: index }],
      ...(index % 10 === 0 && { totpSecret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP', recoveryCodes: codes }),
    };
  }
}

async function timed(work) {
  const started = performance.now();
  const result = await work();
  return { result, seconds: ((performance.now() - started) / 1000).toFixed(1) };
}

const planned = await auth.movingIn.importUsers(rows(), { dryRun: true });
const broken = await timed(() =>
  auth.movingIn.importUsers(rows(count * 0.6)).catch(({ message }) => message),
);
const heap = [];
const again = await timed(() =>
  auth.movingIn.importUsers(rows(), {
    onProgress({ rows: done }) {
      if (done % Math.max(500, count / 10) !== 0) return;
      globalThis.gc?.();
      heap.push(Math.round(process.memoryUsage().heapUsed / 2 ** 20));
    },
  }),
);
const isEqual = JSON.stringify(again.result) === JSON.stringify(planned);
console.log(
  `${count} rows: ${broken.result} after ${broken.seconds} s, the whole again in ${again.seconds} s`,
);
console.log(`heap in MiB after each tenth: ${heap.join(' ')}`);
console.log(
  `${again.result.users.length} users; the report ${isEqual ? 'equals' : 'DIFFERS FROM'} that of the dry run`,
);
await auth.close();
