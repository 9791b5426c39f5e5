import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { internalsOf } from '../../lib/auth.js';
import { AuthError, type AuthErrorCode, statusOf } from '../../lib/errors.js';
import { problemsOf } from '../../lib/http/declared-problems.js';
import { en } from '../../lib/words/pages/index.js';
import { ada } from '../support/app.js';
import { attribute, elementsIn, type Shown, textOf } from '../support/page-browser.js';
import { type RefusingApp, startRefusingApp } from '../support/refusing-app.js';

/** What only developers understand. */
const FOR_DEVELOPERS =
  /\b(POST|GET|the request|the body|trustedOrigins|callback_url|credential|endpoint|config|option|parameter|header|JSON|scope|token|see errors)\b/;

/** The forms with a field for an error that no page of this app shows, because they need a link or a pending sign-in. */
const NOT_SHOWN = [
  'change-email/confirm',
  'second-factor/confirm',
  'undo-change/confirm',
  'verify-email/confirm',
  'account/security/remove-password',
];

type Look = Parameters<RefusingApp['eachError']>[0];

let refusing: RefusingApp;
/** What each form answers to each error. */
const answers: Parameters<Look>[] = [];
beforeAll(async () => {
  refusing = await startRefusingApp();
  await refusing.eachError((...answer) => {
    answers.push(answer);
    return [];
  });
});
afterAll(() => refusing.app.stop());

const faultsOf = (look: Look) =>
  answers.flatMap(([form, code, ...shown]) =>
    look(form, code, ...shown).map((fault) => `${form}, ${code}: ${fault}`),
  );

/** The codes whose response is another page: the error page, or the one that confirms the email. */
const isElsewhere = (code: AuthErrorCode, { status }: Shown) =>
  statusOf(code) === 503 || code === 'origin_not_allowed' || status === 303;

/** Whether the redirect of an error leads to the page where the user does what is missing. */
const isLed = (code: AuthErrorCode, { location }: Shown) =>
  code === 'email_not_verified' ||
  ((code === 'reauthentication_required' || code === 'second_factor_required') &&
    /^\/auth\/(reauthenticate|account\/security)\?/.test(location ?? ''));

test('every error of every form is told in the own words of the pages', () => {
  const seen = new Set<string>();
  const faults = faultsOf((form, code, shown) => {
    seen.add(form);
    if (shown.status === 303) return isLed(code, shown) ? [] : [`leads to ${shown.location}`];
    const said = shown.error ?? shown.text;
    return [
      ...(shown.status === statusOf(code) ? [] : [`status ${shown.status}`]),
      ...(en.errors[code] === undefined ? ['no words'] : []),
      ...(code !== 'validation_failed' &&
      said.includes(new AuthError(code).detail) &&
      en.errors[code] !== new AuthError(code).detail
        ? ['the detail for developers']
        : []),
      ...(FOR_DEVELOPERS.test(said) ? [`"${said}"`] : []),
      ...(shown.parseErrors.length > 0 ? [shown.parseErrors.join()] : []),
    ];
  });
  expect(seen.size).toBeGreaterThan(40);
  expect(faults).toEqual([]);
});

test('every error of every route has words, because providers and scripts lead to pages with them', () => {
  const { core, routes } = internalsOf(refusing.app.auth);
  const codes = new Set(routes().flatMap((route) => Object.values(problemsOf(core, route)).flat()));
  // The errors of a sign-in at a provider, which its redirect names.
  const ofFlows = [
    'access_denied',
    'account_exists',
    'account_linked_elsewhere',
    'provider_already_linked',
    'sign_up_incomplete',
  ];
  expect(codes.size).toBeGreaterThan(50);
  expect([...codes, ...ofFlows].filter((code) => en.errors[code] === undefined)).toEqual([]);
});

test('an error with a field stands beside it once or is linked to it, and opens what is closed around it', () => {
  const hidden = new Set<string>();
  const shownFields = new Set<string>();
  const faults = faultsOf((form, code, shown, field) => {
    if (field === null || isElsewhere(code, shown)) return [];
    const input = shown.elements.find(
      (one) => /^(input|select)$/.test(one.tagName) && attribute(one, 'aria-invalid') === 'true',
    );
    if (!input) {
      hidden.add(form);
      return [];
    }
    shownFields.add(form);
    const described = (attribute(input, 'aria-describedby') ?? '').split(' ');
    const error = shown.elements.find(
      (one) => described.includes(`${attribute(one, 'id')}`) && attribute(one, 'data-part') === 'error',
    );
    const isLinked = shown.all('a').some((one) => attribute(one, 'href') === `#${attribute(input, 'id')}`);
    const isAccount = attribute(shown.all('body')[0]!, 'data-part') === 'account';
    // A form shows the error of one field once, unless it also leads to a next step.
    const isOnce = STEPS[code] === undefined && `${form}, ${code}` !== 'sign-up/password, email_taken';
    const isAlert = error !== undefined && attribute(error, 'role') === 'alert';
    const focused = shown.elements.filter((one) => attribute(one, 'autofocus') !== undefined);
    const closed = shown
      .all('details')
      .filter((one) => attribute(one, 'open') === undefined && [...elementsIn(one)].includes(input));
    const expected = isAccount || isOnce ? attribute(input, 'id') : 'errors';
    return [
      ...(attribute(input, 'name') === field ? [] : [`at ${attribute(input, 'name')}`]),
      ...(error && textOf(error) !== '' ? [] : ['no text beside the field']),
      ...(isLinked === isOnce ? [isOnce ? 'told twice' : 'no link to the field'] : []),
      ...(isAlert === isOnce ? [] : ['not announced once']),
      ...(closed.length === 0 ? [] : ['closed']),
      ...(focused.length === 1 &&
      (attribute(focused[0]!, 'id') ?? attribute(focused[0]!, 'data-part')) === expected
        ? []
        : [`the focus is at ${focused.map((one) => attribute(one, 'id') ?? attribute(one, 'data-part'))}`]),
    ];
  });
  expect(faults).toEqual([]);
  expect([...hidden].filter((form) => !shownFields.has(form)).sort()).toEqual([...NOT_SHOWN].sort());
});

test('an error without a field has the focus in the form or above the page, or is read with the field that has it', () => {
  const faults = faultsOf((_form, code, shown, field) => {
    if (field !== null || isElsewhere(code, shown) || code === 'validation_failed') return [];
    const focused = shown.elements.filter((one) => attribute(one, 'autofocus') !== undefined);
    const box = shown.elements.find((one) => attribute(one, 'data-part') === 'errors');
    const [first] = focused;
    // The page of a link that is no longer valid says so itself, in its heading.
    if (code === 'invalid_token' && !box)
      return focused.length === 1 && first?.tagName === 'h1' ? [] : ['focus'];
    // A field that has the focus in its place is described by it.
    const isRead =
      first &&
      box &&
      (first === box || attribute(first, 'aria-describedby')?.split(' ')[0] === attribute(box, 'id'));
    return focused.length === 1 && isRead ? [] : [`focus: ${focused.length}`];
  });
  expect(faults).toEqual([]);
});

/** The next steps that people need, by code, and the forms that lead there. */
const STEPS: Readonly<Record<string, string>> = {
  account_suspended: 'https://help.example',
  new_password_required: '/auth/forgot-password',
  reauthentication_required: '/auth/reauthenticate',
  second_factor_required: '/auth/reauthenticate',
  sign_in_expired: '/auth/sign-in',
  invalid_session: '/auth/sign-in',
};

test('an error that has a next step links to it', () => {
  const seen = new Set<string>();
  const faults = faultsOf((form, code, shown) => {
    const step = STEPS[code];
    if (
      step === undefined ||
      isElsewhere(code, shown) ||
      step === `/auth/${form.slice(0, form.lastIndexOf('/'))}`
    )
      return [];
    seen.add(code);
    const box = shown.elements.find((one) => attribute(one, 'data-part') === 'errors');
    // The page of a code that is used up has the step as its main button, so the box does not repeat it.
    if (code === 'sign_in_expired' && shown.actions.some((action) => action.endsWith('/send-code')))
      return [];
    const links = box
      ? [...elementsIn(code === 'sign_in_expired' ? shown.document : box)].map(
          (one) => attribute(one, 'href') ?? '',
        )
      : [];
    return links.some((href) => href.startsWith(step)) ? [] : [`leads to ${links.join(' ')}`];
  });
  expect([...seen].sort()).toEqual(Object.keys(STEPS).sort());
  expect(faults).toEqual([]);
});

test('a taken email leads to sign-in, and to a new password', async () => {
  refusing.refuse({ code: 'email_taken', of: 'post /signup/credential' });
  const shown = await refusing.app
    .open()
    .post('/auth/sign-up/password', { email: ada.email, password: ada.password });
  refusing.refuse(null);
  expect(shown.error).toContain('You already have an account with this email.');
  expect(shown.links).toEqual(expect.arrayContaining(['/auth/sign-in', '/auth/forgot-password']));
  expect(shown.form('password').attribute('email', 'aria-invalid')).toBe('true');
});

describe('a detail that the app has written', () => {
  test('is shown as it is', async () => {
    const { routes } = internalsOf(refusing.app.auth);
    const route = routes().find(({ path }) => path === '/signup/credential')!;
    const { handle } = route;
    Object.assign(route, {
      handle: () =>
        Promise.reject(new AuthError('sign_up_refused', { detail: 'Only for members of the club.' })),
    });
    const shown = await refusing.app
      .open()
      .post('/auth/sign-up/password', { email: 'new@example.com', password: ada.password });
    Object.assign(route, { handle });
    expect(shown.error).toContain('Only for members of the club.');
    expect(shown.links).toContain('https://help.example');
  });
});
