import * as z from 'zod';
import { shapeNames } from '../../lib/http/route.js';
import { OWN } from './servers.js';

/** A type of TypeScript: one of several alternatives. */
export type Type = readonly Alternative[];
export type Alternative = Plain | List | Shape | Reference;

/** A type without parts, such as `string`, `null` or `'totp'`. */
interface Plain {
  readonly text: string;
}

interface List {
  readonly items: Type;
}

/** An object. */
export interface Shape {
  readonly members: ReadonlyMap<string, Member>;
  /** Whether it has the app's own fields: all of them, or some. */
  readonly own: 'all' | 'some' | null;
  /** Whether it has other members too, such as the fields that only administrators see. */
  readonly isOpen: boolean;
}

export interface Member {
  readonly type: Type;
  readonly isOptional: boolean;
  /** Whether some servers do not have it, or whether it is optional only on some of them. */
  readonly varies: boolean;
  readonly description: string;
}

/** A shape with a name. */
interface Reference {
  readonly name: string;
}

export interface NamedShape {
  readonly type: Type;
  readonly description: string;
  /** Whether the server sends it. Otherwise the client does. */
  readonly isSent: boolean;
}

/** The part of JSON Schema that zod writes for schemas of routes. */
interface JsonSchema {
  /** The name and description of the schema itself. The member that has the schema can have a description of its own. */
  readonly named?: { readonly name: string; readonly description: string };
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly type?: string | readonly string[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

/** The types of schemas. */
export class Types {
  /** The shapes with names, as all servers together have them. */
  readonly named = new Map<string, NamedShape>();

  /** Returns the type of a schema: of a request, or of a response. */
  of(schema: z.ZodType, io: 'input' | 'output'): Type {
    const json = z.toJSONSchema(schema, {
      io,
      override({ zodSchema, jsonSchema }) {
        const named = shapeNames.get(zodSchema);
        if (named) Object.assign(jsonSchema, { named });
      },
    });
    return this.#read(json as JsonSchema, io === 'output');
  }

  #read(schema: JsonSchema, isSent: boolean): Type {
    const type = this.#anonymous(schema, isSent);
    if (!schema.named) return type;
    const { name, description } = schema.named;
    const known = this.named.get(name);
    this.named.set(
      name,
      known ? { ...known, type: merged(known.type, type) } : { type, description, isSent },
    );
    return [{ name }];
  }

  #anonymous(schema: JsonSchema, isSent: boolean): Type {
    if ('const' in schema) return [literal(schema.const)];
    if (schema.enum) return schema.enum.map(literal);
    const either = schema.anyOf ?? schema.oneOf;
    if (either) return either.map((one) => this.#read(one, isSent)).reduce(merged);
    if (Array.isArray(schema.type))
      return schema.type.map((type) => this.#anonymous({ ...schema, type }, isSent)).reduce(merged);
    switch (schema.type) {
      case 'object':
        return [this.#shape(schema, isSent)];
      case 'array':
        return [{ items: this.#read(schema.items ?? {}, isSent) }];
      case 'integer':
        return [{ text: 'number' }];
      default:
        return [{ text: (schema.type as string | undefined) ?? 'unknown' }];
    }
  }

  #shape({ properties, required = [] }: JsonSchema, isSent: boolean): Alternative {
    if (!properties)
      return { text: `${isSent ? 'Readonly<' : ''}Record<string, unknown>${isSent ? '>' : ''}` };
    const { [OWN.ofUsers]: own, [OWN.ofAdmins]: ofAdmins, ...others } = properties;
    const members = Object.entries(others).map(([key, schema]): [string, Member] => [
      key,
      {
        type: this.#read(schema, isSent),
        isOptional: !required.includes(key),
        varies: false,
        description: schema.description === schema.named?.description ? '' : (schema.description ?? ''),
      },
    ]);
    return {
      members: new Map(members),
      own: own ? (required.includes(OWN.ofUsers) ? 'all' : 'some') : null,
      isOpen: ofAdmins !== undefined,
    };
  }
}

function literal(value: unknown): Plain {
  return { text: typeof value === 'string' ? `'${value}'` : String(value) };
}

/** Returns the type that has the alternatives of both. Objects become one, unless a member distinguishes them. */
export function merged(a: Type, b: Type): Type {
  const all = [...a];
  for (const one of b) {
    const index = all.findIndex((other) => isAlike(other, one));
    const other = all[index];
    if (other) all[index] = both(other, one);
    else all.push(one);
  }
  return all;
}

function isAlike(a: Alternative, b: Alternative): boolean {
  if ('text' in a) return 'text' in b && a.text === b.text;
  if ('name' in a) return 'name' in b && a.name === b.name;
  if ('items' in a) return 'items' in b;
  if (!('members' in b)) return false;
  if (a.members.size === 0 || b.members.size === 0) return true;
  const shared = [...a.members.keys()].filter((key) => b.members.has(key));
  const kinds = shared.filter((key) => kindOf(a, key) !== kindOf(b, key));
  // Objects of different kinds become one if they have the same members.
  const areSame = shared.length === a.members.size && shared.length === b.members.size;
  return kinds.length === 0 ? shared.length > 0 : areSame;
}

/** Returns the values of a member that has only certain values. */
function kindOf({ members }: Shape, key: string): string {
  const texts = members.get(key)?.type.map((one) => ('text' in one ? one.text : '')) ?? [];
  return texts.every((text) => text.startsWith("'")) ? texts.join() : '';
}

function both(a: Alternative, b: Alternative): Alternative {
  if ('items' in a && 'items' in b) return { items: merged(a.items, b.items) };
  if (!('members' in a && 'members' in b)) return a;
  const keys = new Set([...a.members.keys(), ...b.members.keys()]);
  const members = [...keys].map((key): [string, Member] => {
    const [one, other] = [a.members.get(key), b.members.get(key)];
    if (!one || !other) return [key, { ...(one ?? other)!, isOptional: true, varies: true }];
    return [
      key,
      {
        type: merged(one.type, other.type),
        isOptional: one.isOptional || other.isOptional,
        varies: one.varies || other.varies || one.isOptional !== other.isOptional,
        description: one.description || other.description,
      },
    ];
  });
  return { members: new Map(members), own: a.own ?? b.own, isOpen: a.isOpen || b.isOpen };
}
