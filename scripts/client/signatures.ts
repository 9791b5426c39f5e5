import type { Codes } from './codes.js';
import { keyOf, type Method } from './methods.js';
import { type Source, tsdoc } from './source.js';
import type { Alternative, Type } from './types.js';

/** The objects of the client, with their interfaces. */
const OBJECTS: Readonly<Record<string, readonly [name: string, description: string]>> = {
  '': ['CoreClient', 'The routes of the core'],
  admin: ['AdminClient', 'The routes of `admin()`, for administrators'],
  apiKeys: ['ApiKeysClient', 'The routes of `apiKeys()`'],
  auditLog: ['AuditLogClient', 'The route of `auditLog()`, for administrators'],
  credential: ['CredentialClient', 'The routes of `credentialPassword()`'],
  emailSignIn: ['EmailSignInClient', 'The routes of `emailSignIn()`'],
  oauth: [
    'OAuthClient',
    'The routes of `oauth()`. To start a flow, navigate to the `url` in the data: `location.assign(data.url)`',
  ],
  organizations: ['OrganizationsClient', 'The routes of `organizations()`'],
  passkeys: ['PasskeyMethods', 'The routes of `passkeys()` that need no ceremony'],
  'passkeys.routes': ['PasskeyRoutes', 'The routes that the ceremonies of `PasskeysClient` call'],
  suspension: ['SuspensionClient', 'The routes of `suspension()`, for administrators'],
  twoFactor: ['TwoFactorClient', 'The routes of `twoFactor()`'],
};

/** An interface with the methods of an object. */
export interface Interface {
  readonly name: string;
  readonly isGeneric: boolean;
  readonly methods: readonly Method[];
  readonly source: string;
}

export function interfacesOf(methods: readonly Method[], source: Source, codes: Codes): readonly Interface[] {
  const strays = methods.filter(({ name }) => !Object.hasOwn(OBJECTS, objectOf(name)));
  if (strays.length > 0)
    throw new TypeError(`name the interface of ${strays[0]?.name} in scripts/client/signatures.ts`);
  const inThirdPerson = thirdPerson(methods.map(({ route }) => route.summary));
  return Object.entries(OBJECTS).map(([object, [name, description]]) => {
    const own = methods.filter((method) => objectOf(method.name) === object);
    const signatures = own.map((method) => signatureOf(method, source, codes, inThirdPerson));
    const isGeneric = signatures.some((signature) => /\bS\b/.test(signature));
    const head = `export interface ${name}${isGeneric ? '<S extends AnyShape>' : ''}`;
    return {
      ...{ name, isGeneric, methods: own },
      source: `${tsdoc(description)}${head} {\n${signatures.join('\n')}\n}`,
    };
  });
}

/** Returns the type of the method of each route, by the name of the route. */
export function methodByRoute(interfaces: readonly Interface[]): string {
  const members = interfaces.flatMap(({ name, isGeneric, methods }) =>
    methods.map((one) => `'${keyOf(one.route)}': ${name}${isGeneric ? '<S>' : ''}['${lastOf(one.name)}'];`),
  );
  return `${tsdoc('The methods of the client, by the routes that they call')}export interface MethodByRoute<S extends AnyShape> {\n${members.sort().join('\n')}\n}`;
}

function signatureOf(
  { name, route, input, isInputOptional, data, codes: own }: Method,
  source: Source,
  codes: Codes,
  inThirdPerson: (summary: string) => string,
): string {
  const parameters = [
    ...[...route.path.matchAll(/:(\w+)/g)].map(([, parameter]) => `${parameter}: string`),
    ...(input ? [`input${isInputOptional ? '?' : ''}: ${source.type(input, false)}`] : []),
    'options?: CallOptions',
  ];
  const type = route.session === 'starts' ? withStep(data, source) : source.type(data, true);
  const call = `Call<${type}, ${codes.of(own)}>`;
  return `${tsdoc(inThirdPerson(route.summary))}${lastOf(name)}(${parameters.join(', ')}): ${call};`;
}

/** Returns the data of a sign-in, to which the client adds a `step`. */
function withStep(data: Type, source: Source): string {
  const alternatives = data.map((one) => stepOf(one, source));
  const all = alternatives.join(' | ');
  return all === 'WithStep<S> | Waiting' ? 'SignedIn<S>' : all;
}

function stepOf(one: Alternative, source: Source): string {
  if (!('members' in one)) return source.alternative(one, true).replace('PendingSignIn', 'Waiting');
  const parts = source.partsOf(one, true).filter((part) => part !== 'WithDevice');
  const steps = parts.map((part) => part.replace('WithSession', 'WithStep'));
  return steps.length > 1 ? `(${steps.join(' & ')})` : steps.join();
}

/** Returns the object that has a method, such as `credential` for `credential.signIn`. */
function objectOf(name: string): string {
  return name.slice(0, Math.max(0, name.lastIndexOf('.')));
}

function lastOf(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

/**
 * Returns a function that turns the imperatives of a summary into the third person, as in "Signs in". A word is a verb
 * if a summary starts with it.
 */
function thirdPerson(summaries: readonly string[]): (summary: string) => string {
  const verbs = new Set(summaries.map((summary) => /^\w+/.exec(summary)?.[0].toLowerCase()));
  return (summary) =>
    summary.replace(/(^|\b(?:and|or) )(\w+)/g, (all, before: string, word: string) =>
      verbs.has(word.toLowerCase()) ? before + conjugated(word) : all,
    );
}

function conjugated(verb: string): string {
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ies`;
  return /(o|s|x|ch|sh)$/.test(verb) ? `${verb}es` : `${verb}s`;
}
