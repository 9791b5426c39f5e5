import type { MailWords } from '../words/emails/index.js';
import type { AdvicePage } from './layout.js';

type Texts = MailWords['texts'];

/** The name of a text: the kind of its email or, for a variant, `kind/variant`. */
export type TextName = keyof Texts;

/** The names of the texts that have these fields. */
export type TextWith<Field extends string> = {
  [Name in TextName]: Texts[Name] extends Readonly<Record<Field, unknown>> ? Name : never;
}[TextName];

/** The kind of the email with a text. */
export type KindIn<Name extends string> = Name extends `${infer Kind}/${string}` ? Kind : Name;

/** The values that are known when an email is composed. A template has the others. */
export interface ComposedValues {
  readonly expiry?: string;
  readonly within?: string;
}

/** The values of all fields of a text. */
type AllValues<Text> =
  Extract<Text[keyof Text], (values: never) => unknown> extends (values: infer Values) => unknown
    ? Values
    : unknown;

type OwnValues<Text> = Omit<AllValues<Text>, keyof ComposedValues>;

/** The part of a template that has the values of its text. */
type WithValues<Text> = keyof OwnValues<Text> extends never
  ? { readonly values?: undefined }
  : { readonly values: OwnValues<Text> };

type AdviceField = 'advice' | 'first' | 'last';

/** The part of a template that has the page of its text's advice. */
type WithAdvice<Text> =
  Extract<keyof Text, AdviceField> extends never
    ? { readonly advicePage?: undefined }
    : { readonly advicePage: AdvicePage };

/** A template that names one of these texts. */
export type Naming<Name extends TextName> = Name extends TextName
  ? { readonly kind: KindIn<Name>; readonly text: Name } & WithValues<Texts[Name]> & WithAdvice<Texts[Name]>
  : never;

/** An email with a link. */
export type LinkTexts = Naming<TextWith<'after'>>;

/** An email with a link, and the page that it leads to. */
export type MailTemplate = LinkTexts & {
  /** The app's page for the link: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
};

/** An email with a code and a link. */
export type CodeTemplate = Naming<TextWith<'help' | 'action'>> & {
  /** The app's page that the link leads to: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
};

/** An email with a code that a browser has asked for. */
export type RequestedCodeTemplate = Naming<TextWith<'help'>>;

/** An email with the code of an emailed sign-in. */
export type SignInCodeTexts = Naming<TextWith<'help' | 'beforeLink' | 'action'>>;

/** An email with the code of an emailed sign-in, and the page that its link leads to. */
export type SignInCodeTemplate = SignInCodeTexts & {
  /** The app's page that the link leads to: a URL, or a path of `baseUrl`'s origin. */
  readonly page: string;
};

/** An email in place of a code: that an address has no account, or that it has one already. */
export type NoAccountTemplate = RequestedCodeTemplate & {
  /** The app's page that the link leads to, such as the one where people sign up. Null if there is no link. */
  readonly page: string | null;
};

/** The facts about an email without its own link that are the same in every language. */
export interface PlainFacts {
  /** Whether the account no longer has this address, or is closed, so that a new password cannot help. @default false */
  readonly losesAddress?: boolean;
  /** Whether the `subject` of its details is the name of a device, which is translated. @default false */
  readonly isAboutDevice?: boolean;
  /** What users can do if there is no undo link. @default nothing */
  readonly help?: keyof MailWords['help'];
}

/** An email without its own link: a notice, or an email about an action of another person. */
export type PlainTemplate = Naming<TextWith<'lines'>> & PlainFacts;

/** The facts that the owner of a notice declares. */
export type FactsOf<Kind extends TextName> = WithValues<Texts[Kind]> & WithAdvice<Texts[Kind]> & PlainFacts;

type Filled<Field> = Field extends (values: never) => infer Result ? Result : Field;

type FieldOf<Text, Field extends string> =
  Text extends Readonly<Record<Field, infer Value>> ? Filled<Value> : undefined;

type KeyOf<Text> = Text extends unknown ? Extract<keyof Text, string> : never;

/** The fields of one of these texts, with the values in their places. A text without a field has undefined there. */
export type Filling<Name extends TextName> = {
  readonly [Field in KeyOf<Texts[TextName]>]: FieldOf<Texts[Name], Field>;
};

/** Returns the text that a template names, with the values in their places. */
export function textOf<Name extends TextName>(
  { text, values }: { readonly text: Name; readonly values?: object | undefined },
  { texts }: MailWords,
  composed: ComposedValues = {},
): Filling<Name> {
  const all = { ...values, ...composed };
  const filled = Object.entries(texts[text]).map(([name, field]) => [
    name,
    typeof field === 'function' ? (field as (values: object) => unknown)(all) : field,
  ]);
  return Object.fromEntries(filled);
}
