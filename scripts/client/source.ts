import {
  type Alternative,
  type Member,
  merged,
  type NamedShape,
  type Shape,
  type Type,
  type Types,
} from './types.js';

/**
 * Members that several shapes have in common, with the names of their interfaces. `?` marks a member that must be
 * optional.
 */
const PARTS = {
  WithSession: ['A user, and the session that a request has issued', ['user', 'session']],
  WithDevice: ['The value for the header Latchkey-Device', ['device_token?']],
  WithRemoval: ['A sign-in that proves access to the mailbox', ['password_removed?']],
  UndoProof: [
    'The proof that an undo can require in addition to its token',
    ['password?', 'code?', 'recovery_code?', 'passkey?', 'pending_token?'],
  ],
  WithPassword: ['The password, in place of a recent sign-in', ['password?']],
  Page: ['A page of a list', ['limit?', 'cursor?']],
} satisfies Readonly<Record<string, readonly [description: string, keys: readonly string[]]>>;

/** The shapes that lib/client/account-export.ts describes, because the app decides what they contain. */
const BY_HAND: readonly string[] = ['AccountExport'];

/** A named shape or a part, in TypeScript. */
export interface Declaration {
  readonly name: string;
  readonly source: string;
}

/** Writes types in TypeScript. */
export class Source {
  readonly #named: ReadonlyMap<string, NamedShape>;
  /** The parts that were used, as all shapes together have them. */
  readonly #parts = new Map<string, { readonly type: Type; readonly isSent: boolean }>();

  constructor({ named }: Types) {
    this.#named = named;
  }

  /** Returns the declarations of the named shapes, and of the parts that were used so far, in the order of their names. */
  declarations(): readonly Declaration[] {
    const shapes = [...this.#named]
      .filter(([name]) => !BY_HAND.includes(name))
      .flatMap(([name, shape]) => this.#declare(name, shape));
    const parts = [...this.#parts].flatMap(([name, part]) => {
      const [description] = PARTS[name as keyof typeof PARTS];
      return this.#declare(name, { ...part, description });
    });
    return [...shapes, ...parts].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  #declare(name: string, { type, description, isSent }: NamedShape): readonly Declaration[] {
    const [only, ...others] = type;
    if (!only || others.length > 0 || !('members' in only)) {
      const source = `${tsdoc(description)}export type ${this.#headOf(name, type)} = ${this.type(type, isSent)};`;
      return [{ name, source }];
    }
    if (!isSent || only.own === null) return [this.#interface(name, description, only, isSent)];
    // A user is an account with the app's own fields.
    const account = name.replace('User', 'Account');
    const alias = `export type ${name}<S extends AnyShape> = ${account} & Readonly<S['fields']>;`;
    return [
      this.#interface(
        account,
        `${description.split(',')[0]}, without the app's own fields`,
        { ...only, own: null },
        isSent,
      ),
      { name, source: tsdoc(description) + alias },
    ];
  }

  #interface(name: string, description: string, shape: Shape, isSent: boolean): Declaration {
    const head = this.#headOf(name, [{ ...shape, own: null }]);
    const comment = tsdoc(description, ...(allVary(shape) ? [`Each member ${VARIES.toLowerCase()}`] : []));
    // With a line break, the formatter writes each member on a line of its own.
    const members = this.#members(shape, isSent).replace('{ ', '{\n');
    return { name, source: `${comment}export interface ${head} ${members}` };
  }

  #headOf(name: string, type: Type): string {
    return this.isGeneric(type) ? `${name}<S extends AnyShape>` : name;
  }

  /** Whether a type has the app's own fields. */
  isGeneric(type: Type): boolean {
    return type.some((one) => {
      if ('text' in one) return false;
      if ('items' in one) return this.isGeneric(one.items);
      if ('members' in one)
        return one.own !== null || [...one.members.values()].some((member) => this.isGeneric(member.type));
      return !BY_HAND.includes(one.name) && this.isGeneric(this.#named.get(one.name)?.type ?? []);
    });
  }

  /** Returns the source of a type. @param isSent whether the server sends it, so that it is readonly */
  type(type: Type, isSent: boolean): string {
    const sources = type.map((one) => this.alternative(one, isSent));
    return sources.filter((one) => !one.startsWith("'") || !sources.includes('string')).join(' | ');
  }

  alternative(one: Alternative, isSent: boolean): string {
    if ('text' in one) return one.text;
    if ('name' in one) return this.#reference(one.name);
    if ('members' in one) return this.partsOf(one, isSent).join(' & ');
    const items = this.type(one.items, isSent);
    return `${isSent ? 'readonly ' : ''}${/[|&]/.test(items) ? `(${items})` : items}[]`;
  }

  /** Returns the sources of the types whose intersection is a shape: named parts, the app's own fields, and the rest. */
  partsOf(shape: Shape, isSent: boolean): readonly string[] {
    const rest = new Map(shape.members);
    const parts: string[] = [];
    for (const [name, [, keys]] of Object.entries(PARTS)) {
      const found = keys.map((key) => [key.replace('?', ''), key.endsWith('?')] as const);
      if (!found.every(([key, isOptional]) => rest.get(key)?.isOptional === isOptional)) continue;
      const members = new Map(found.map(([key]) => [key, rest.get(key) as Member]));
      for (const key of members.keys()) rest.delete(key);
      const type = merged(this.#parts.get(name)?.type ?? [], [{ members, own: null, isOpen: false }]);
      this.#parts.set(name, { type, isSent });
      parts.push(this.isGeneric(type) ? `${name}<S>` : name);
    }
    if (shape.own) parts.push(ownFields(shape, isSent));
    const hasRest = rest.size > 0 || shape.isOpen || parts.length === 0;
    return hasRest ? [...parts, this.#members({ ...shape, members: rest }, isSent)] : parts;
  }

  #reference(name: string): string {
    const shape = this.#named.get(name);
    if (!shape) throw new TypeError(`there is no shape ${name}`);
    const [only] = shape.type;
    if (!shape.isSent && only && 'members' in only && only.own !== null)
      return `${name} & ${ownFields(only, false)}`;
    return this.isGeneric([{ name }]) ? `${name}<S>` : name;
  }

  #members(shape: Shape, isSent: boolean): string {
    const { members, isOpen } = shape;
    const start = isSent ? 'readonly ' : '';
    const lines = [...members].map(([key, { type, isOptional, varies, description }]) => {
      const sentences = [description, varies && !allVary(shape) ? VARIES : ''].filter((one) => one !== '');
      const comment = sentences.length > 0 ? `\n${tsdoc(...sentences)}` : '';
      return `${comment}${start}${key}${isOptional ? '?' : ''}: ${this.type(type, isSent)};`;
    });
    return `{ ${[...lines, ...(isOpen ? [`${start}[field: string]: unknown;`] : [])].join(' ')} }`;
  }
}

const VARIES = "Depends on the server's config";

function allVary({ members }: Shape): boolean {
  return members.size > 1 && [...members.values()].every(({ varies }) => varies);
}

function ownFields({ own }: Shape, isSent: boolean): string {
  if (isSent) return "Readonly<S['fields']>";
  return own === 'all' ? "S['newFields']" : "Partial<S['newFields']>";
}

const WIDTH = 105;

/** Returns a comment with the sentences, in lines of limited length. */
export function tsdoc(...sentences: readonly string[]): string {
  const text = sentences.map(sentence).join(' ');
  if (text.length < WIDTH) return `/** ${text} */\n`;
  const lines = wrapped(text);
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}

function wrapped(text: string): string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length <= WIDTH) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines;
}

/** Ends a text with a period. */
function sentence(text: string): string {
  return text.endsWith('.') || text.startsWith('@') ? text : `${text}.`;
}
