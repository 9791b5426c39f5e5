import {
  type AuthError,
  type FieldError,
  hasDefaultDetail,
  type ProblemDetails,
  phraseOf,
} from '../errors.js';
import { HUMAN_FIELD } from '../http/ask-human.js';
import { problemIn } from '../http/problem-details.js';
import { snakeCase } from '../tables/column.js';
import { isInternationalized } from '../users/canonical.js';
import type { Words } from '../words/pages/index.js';
import { AGAIN, labelOf } from './controls.js';
import type { ErrorPlace, PageForm } from './page.js';
import type { Site } from './site.js';
import type { ErrorValues, StepName, StepValues } from './values.js';

/** What users can do about an error, on every page. */
const STEPS: Readonly<Partial<Record<string, readonly StepName[]>>> = {
  account_deleted: ['support'],
  account_exists: ['sign-in'],
  account_suspended: ['support'],
  email_not_verified: ['verify-email'],
  invalid_session: ['sign-in'],
  new_password_required: ['forgot-password'],
  reauthentication_required: ['reauthenticate'],
  second_factor_required: ['reauthenticate'],
  sign_in_expired: ['sign-in'],
  sign_up_incomplete: ['sign-up'],
  sign_up_refused: ['support'],
  unauthenticated: ['sign-in'],
};

/**
 * The codes of requests that no form of a page sends. Their details are for the developers of programs, even if they are
 * about one request.
 */
const OF_PROGRAMS: ReadonlySet<string> = new Set([
  'insufficient_scope',
  'invalid_callback_url',
  'invalid_json',
  'invalid_request',
  'method_not_allowed',
  'origin_not_allowed',
  'unavailable',
  'unsupported_media_type',
]);

/** The fields of codes, on pages that do not say which method their forms use. */
const CODE_FIELDS = ['code', 'recovery_code'];

/** The page and the form that an error is shown on. */
export interface Where {
  /** The name of the page. */
  readonly page: string;
  /** The form that was rejected. Null if the page itself was. */
  readonly form: PageForm | null;
  /** The fields that the form was sent with. */
  readonly sent?: ReadonlyMap<string, string>;
  /** Whether a script of the pages has sent the form. @default false */
  readonly isByScript?: boolean;
  /** The address that the user returns to after another page. Null if there is none. */
  readonly here: string | null;
}

/** The own field of a form that names the change which is undone, if the words about its errors depend on it. */
export const CHANGE = 'change';

/** Explains an error to the user of a page: in the words of the page, beside its field, with the next step. */
export function explain(site: Site, error: AuthError, where: Where, words: Words): ErrorValues {
  const { page, form, sent, here } = where;
  const { status, code, missing = [] } = error;
  const declared = form?.errors?.[code];
  const place: ErrorPlace = typeof declared === 'string' ? { field: declared } : (declared ?? {});
  const key = form && `${page}/${form.name}`;
  const said = problemIn(error, site.core.languages.loaded('errors', words.lang));
  const fields = fieldsOf(error, { said, site, form: key, sent, words });
  const named = [place.field ?? []]
    .flat()
    .find((name, index, all) => sent?.get(name) || index === all.length - 1);
  const ofMissing = missing.flatMap((proof) => place.fieldsOfMissing?.[proof] ?? []);
  const at = ofMissing.length > 0 || named === undefined ? ofMissing : [named];
  const variants = variantsOf(site, where);
  const textAt = (name: string) =>
    textOf(error, said, [key, page], [...variantsAt(name, where), ...variants, name], words);
  const ofFields = Object.fromEntries(at.map((name) => [name, textAt(name)]));
  const text = Object.values(ofFields)[0] ?? textOf(error, said, [key, page], variants, words);
  return {
    status,
    code,
    detail: text,
    fields: { ...fields, ...ofFields },
    missing,
    steps: (place.steps ?? STEPS[code] ?? []).flatMap((name) => {
      const href = name === page ? null : site.step(name, here);
      return href === null ? [] : [{ name, href } satisfies StepValues];
    }),
  };
}

/** Returns what the words about an error can depend on, such as what users sign in with, or which kind of code it is. */
function variantsOf(site: Site, { sent, isByScript = false }: Where): readonly string[] {
  const { identifier, concealsEmails } = site;
  // A built-in check needs a script, which has sent no token.
  const isWithout = !isByScript && !sent?.get(HUMAN_FIELD) && site.core.humanCheck?.builtIn;
  const method = sent?.get('method') ?? CODE_FIELDS.find((name) => sent?.get(name)) ?? '';
  const again = sent?.has(AGAIN) ? ['again'] : [];
  return [
    ...(concealsEmails ? [`${identifier}/concealed`] : []),
    identifier,
    method,
    ...again,
    ...(isWithout ? ['no-script'] : []),
  ];
}

/** Returns what the words about an error at a field can depend on besides: the change that is undone. */
function variantsAt(field: string, { sent }: Where): readonly string[] {
  const change = sent?.get(CHANGE);
  if (!change) return [];
  // What was typed as a code can be a recovery code.
  const typed = CODE_FIELDS.includes(field) && CODE_FIELDS.find((name) => sent?.get(name));
  return [`${change}/${typed || field}`];
}

/**
 * @param said the error in the language of the page
 * @param places the names of the form, if there is one, and of the page
 */
function textOf(
  error: AuthError,
  { detail }: Pick<ProblemDetails, 'detail'>,
  places: readonly (string | null)[],
  variants: readonly string[],
  words: Words,
): string {
  const { code, retryAfter } = error;
  const { errors, errorsOf } = words;
  // A detail in place of the default one is about this case: it comes from a hook of the app, for example.
  const isOwn = !hasDefaultDetail(error) && !OF_PROGRAMS.has(code);
  const keys = [...variants.map((variant) => `${code}/${variant}`), code];
  const from = [...places.map((place) => (place === null ? {} : (errorsOf[place] ?? {}))), errors];
  const [found = { key: code, text: detail }] = from.flatMap((texts) =>
    keys.flatMap((key) => (texts[key] === undefined ? [] : [{ key, text: texts[key] }])),
  );
  const text = isOwn ? detail : found.text;
  // The words about one case say what to do, so that no one has to wait.
  const isWhole = !isOwn && found.key !== code && !text.includes(words.later);
  if (retryAfter === undefined || isWhole) return text;
  // The exact wait replaces this sentence.
  return `${text.replace(words.later, '').trimEnd()} ${words.refusal.wait(words.formats.duration(retryAfter))}`;
}

/** What the words about a field depend on. */
interface FieldsAt extends Pick<Where, 'sent'> {
  /** The error in the language of the page. */
  readonly said: ProblemDetails;
  readonly site: Site;
  /** The names of the page and the form. */
  readonly form: string | null;
  readonly words: Words;
}

/** Returns a sentence about each invalid field. */
function fieldsOf(
  { errors = [] }: AuthError,
  { said, site, form, sent, words }: FieldsAt,
): Record<string, string> {
  const { missing, fieldErrors, errorsOf } = words;
  const own = (form === null ? undefined : errorsOf[form]) ?? {};
  const fields = new Map(
    Object.entries(site.core.settings.user.fields).map(([key, options]) => [snakeCase(key), options]),
  );
  const lacks = (name: string) =>
    errors.some(({ pointer, code }) => pointer === `/${name}` && code === 'required');
  // One of the two is enough, so one error is too.
  const isTold = ({ pointer }: FieldError) =>
    pointer === '/username' && site.identifier === 'either' && lacks('email') && lacks('username');
  return Object.fromEntries(
    errors
      .map((one, index) => ({
        ...one,
        phrase: phraseOf(one),
        detail: said.errors?.[index]?.detail ?? one.detail,
      }))
      .filter((one) => !isTold(one))
      .map(({ pointer, code, phrase, detail }) => {
        const name = pointer.split('/')[1] ?? '';
        const field = fields.get(name);
        if (code === 'required' && field?.enum) return [name, words.notChosen];
        if (field && phrase?.name === 'outside-pattern')
          return [
            name,
            words.wrongFormat(
              words.ofApp(field.label ?? labelOf(name)),
              field.hint === undefined ? null : words.ofApp(field.hint),
            ),
          ];
        const text =
          code === 'required'
            ? (own[`/${name}/required/${site.identifier}`] ??
              missing[`${name}/${site.identifier}`] ??
              missing[name] ??
              fieldErrors.required)
            : (own[`/${name}`] ??
              fieldErrors[`${code}/${field?.type}`] ??
              fieldErrors[kindOf(code, sent?.get(name))]);
        return [name, text ?? words.sentenceOf(detail)];
      }),
  );
}

/** Returns the name of an error in the words: one code can have two reasons. */
function kindOf(code: string, typed: string | undefined): string {
  return code === 'invalid_email' && isInternationalized(typed) ? 'internationalized_email' : code;
}
