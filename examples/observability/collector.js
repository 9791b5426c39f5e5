// A collector for development: it appends whatever it gets by OTLP over HTTP to a file, as one line of JSON each.
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:http';

const file = createWriteStream(process.env.FILE ?? 'telemetry.log', { flags: 'a' });

const server = createServer((req, res) => {
  const chunks = [];
  req.on('data', (chunk) => chunks.push(chunk));
  req.on('end', () => {
    const line = `${Buffer.concat(chunks).toString().replaceAll('\n', ' ')}\n`;
    file.write(line, () => res.writeHead(200, { 'content-type': 'application/json' }).end('{}'));
  });
});

server.listen(Number(process.env.PORT ?? 4318), () => {
  console.log(`Listening on http://localhost:${server.address().port}`);
});
