// A process that runs the command line as often as it is asked to. latchkey and the packages, whose loading takes most of
// the time of a command, are loaded once; the program and the modules of the project are loaded anew for each run.
import module from 'node:module';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [program, folder] = process.argv.slice(2);
const hooks = new URL('cli-modules.mjs', import.meta.url);
module.register(hooks, {
  data: { program: `${pathToFileURL(program)}`, project: `${pathToFileURL(folder)}/` },
});

let runs = 0;
let ended;
process.exit = (code) => ended(code);

process.on('message', async ({ args, env, input }) => {
  process.argv = [process.execPath, program, ...args];
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(input)]), configurable: true });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) {
    process[name].write = (text, ...rest) => {
      output[name] += text;
      rest.findLast((one) => typeof one === 'function')?.();
      return true;
    };
  }
  const code = new Promise((resolve) => {
    ended = resolve;
  });
  await import(`${pathToFileURL(program)}?run=${++runs}`);
  const message = { code: await code, ...output };
  for (const signal of ['SIGINT', 'SIGTERM']) process.removeAllListeners(signal);
  process.send(message);
});
// What the commands have left open does not hold it up.
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
