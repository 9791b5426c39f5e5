import { brotliDecompressSync } from 'node:zlib';
import type { NextFunction, Request, Response } from 'express';
import { digestInHex } from '../crypto/token.js';
import { files } from './asset-files.js';

/** A file that pages load. */
interface Asset {
  readonly type: string;
  readonly hash: string;
  /** The file by its encoding. `identity` is created on first use. */
  readonly bodies: Map<Encoding, Buffer>;
}

type Encoding = 'br' | 'gzip' | 'identity';

const TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
};

/** The files that pages load, at addresses that change with their content. */
export class Assets {
  readonly #assets: ReadonlyMap<string, Asset>;

  /** @param theme the style sheet of the app's theme */
  constructor(theme: string) {
    const built = Object.entries(files).map(([name, { hash, br, gzip }]) => {
      const bodies = new Map<Encoding, Buffer>([
        ['br', Buffer.from(br, 'base64')],
        ['gzip', Buffer.from(gzip, 'base64')],
      ]);
      return [name, { type: typeOf(name), hash, bodies }] as const;
    });
    const own = {
      type: typeOf('theme.css'),
      hash: digestInHex(theme).slice(0, 10),
      bodies: new Map<Encoding, Buffer>([['identity', Buffer.from(theme)]]),
    };
    this.#assets = new Map([...built, ['theme.css', own]]);
  }

  /** Returns the name of a file with the hash of its content. */
  fileOf(name: string): string {
    const asset = this.#assets.get(name);
    if (!asset) throw new TypeError(`there is no asset ${name}`);
    return withHash(name, asset.hash);
  }

  /** Sends a file. If the hash differs, the page is from another version of the app, and gets the current file. */
  send(file: string, req: Request, res: Response, next: NextFunction): void {
    const [, stem, hash, extension] = /^([a-z-]+)\.([0-9a-f]{10})\.(css|js|svg)$/.exec(file) ?? [];
    const asset = this.#assets.get(`${stem}.${extension}`);
    if (!asset) {
      next();
      return;
    }
    const encoding = encodingFor(req, asset);
    res.statusCode = 200;
    res.setHeader('Content-Type', asset.type);
    res.setHeader('X-Content-Type-Options', 'nosniff');
    res.setHeader('Cross-Origin-Resource-Policy', 'same-origin');
    res.setHeader('Cache-Control', hash === asset.hash ? 'public, max-age=31536000, immutable' : 'no-cache');
    res.setHeader('ETag', `"${asset.hash}-${encoding}"`);
    res.vary('Accept-Encoding');
    if (encoding !== 'identity') res.setHeader('Content-Encoding', encoding);
    if (req.fresh) {
      res.statusCode = 304;
      res.end();
      return;
    }
    res.end(req.method === 'HEAD' ? undefined : bodyOf(asset, encoding));
  }
}

function encodingFor(req: Request, { bodies }: Asset): Encoding {
  if (!bodies.has('br')) return 'identity';
  // Browsers name gzip first, but do not prefer it.
  return (['br', 'gzip'] as const).find((one) => req.acceptsEncodings(one) === one) ?? 'identity';
}

function bodyOf({ bodies }: Asset, encoding: Encoding): Buffer {
  const body = bodies.get(encoding) ?? brotliDecompressSync(bodies.get('br') ?? Buffer.alloc(0));
  bodies.set(encoding, body);
  return body;
}

function withHash(name: string, hash: string): string {
  return name.replace(/(?=\.[a-z]+$)/, `.${hash}`);
}

function typeOf(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
}
