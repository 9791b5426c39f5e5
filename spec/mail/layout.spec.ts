import { describe, expect, test } from '@jest/globals';
import { contentOf, type MailLook } from '../../lib/mail/layout.js';
import { english } from '../../lib/words/emails/index.js';

const plain: MailLook = { appName: null, logo: null, color: '#0b57d0', footer: null };
const URL = 'https://app.example.com/reset?a=1&token=lkm_x';
const parts = [
  'Hello.',
  { code: '20461938' },
  { url: URL, action: 'Go on' },
  { table: [['Account', 'ada']] },
];
const compose = (look: Partial<MailLook> = {}, paragraphs = parts) =>
  contentOf('Choose a new password', paragraphs as never, { ...plain, ...look }, english);
/** The names of the elements, and of their attributes. */
const elementsOf = (html: string) =>
  [...html.matchAll(/<(\/?[\w!]+)((?: [\w-]+="[^"]*")*)[^>]*>/g)].map(
    ([, name, attributes = '']) => `${name}${attributes.replace(/="[^"]*"/g, '')}`,
  );
const buttonOf = (html: string) =>
  /background-color:(#\w+);color:(#\w+);[^>]*>Go on<\/a>/.exec(html)?.slice(1) ?? [];

test('the subject and the last line name the app, where its name is known', () => {
  const { subject, text, html } = compose({ appName: 'Example' });
  expect(subject).toBe('Choose a new password - Example');
  expect(text).toBe(`Hello.\n\n20461938\n\n${URL}\n\nAccount: ada\n\n— Example\n`);
  expect(html).toContain('<title>Choose a new password - Example</title>');
  expect(html).toMatch(/>— Example<\/p>\n<\/div>\n<\/body>\n<\/html>\n$/);
  const unnamed = compose();
  expect(unnamed.subject).toBe('Choose a new password');
  expect(unnamed.text).toBe(`Hello.\n\n20461938\n\n${URL}\n\nAccount: ada\n`);
  expect(unnamed.html).not.toContain('—');
});

test('the HTML is a document that follows the color scheme, and has the URL under the button', () => {
  const { html } = compose();
  expect(html).toMatch(/^<!doctype html>\n<html lang="en" style="color-scheme:light dark">/);
  for (const part of [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark">',
    'max-width:560px',
  ])
    expect(html).toContain(part);
  const href = URL.replace('&', '&amp;');
  expect(html.match(/<a [^>]*>/g)).toEqual([
    expect.stringContaining(`href="${href}"`),
    expect.stringContaining(`href="${href}"`),
  ]);
  expect(html).toContain(`Or open this link:<br>\n<a href="${href}" style="color:inherit">${href}</a>`);
  expect(html).not.toMatch(/<(img|style|script|link|table)\b/);
});

test.each([
  ['#0b57d0', '#ffffff'],
  ['#000', '#ffffff'],
  ['#fff', '#000000'],
  ['#FFD400', '#000000'],
  ['#0f0', '#000000'],
  ['#f00', '#000000'],
  ['#e00000', '#ffffff'],
  ['#757575', '#ffffff'],
  ['#767676', '#000000'],
])('the text on a button of the color %s is %s', (color, ink) => {
  expect(buttonOf(compose({ color }).html)).toEqual([color, ink]);
});

test('a logo is an image with the name of the app', () => {
  const logo = 'https://app.example.com/logo.png?a=1&b=2';
  expect(compose({ logo, appName: 'Example' }).html).toContain(
    '<img src="https://app.example.com/logo.png?a=1&amp;b=2" alt="Example" ',
  );
  expect(compose({ logo }).html).toContain(' alt="" ');
});

test('a footer is at the bottom, with its lines', () => {
  const { text, html } = compose({ appName: 'Example', footer: 'Example Ltd\n1 High Street' });
  expect(text).toMatch(/\n\n— Example\n\nExample Ltd\n1 High Street\n$/);
  expect(html).toContain('>Example Ltd<br>\n1 High Street</p>\n</div>');
});

describe('no value adds an element or an attribute', () => {
  const wanted = elementsOf(compose({ appName: 'Example', logo: 'x', footer: 'x' }).html);

  test.each(['<b>Ada</b>', '"><script>alert(1)</script>', "' onload='x", '</title></div>', '&lt;b&gt;'])(
    '%j',
    (value) => {
      const { subject, text, html } = compose({ appName: value, logo: value, footer: value }, [
        value,
        { code: value },
        { url: value, action: value },
        { table: [[value, value]] },
      ]);
      expect(elementsOf(html)).toEqual(wanted);
      expect(html.match(/</g)).toHaveLength(wanted.length);
      expect(subject).toBe(`Choose a new password - ${value}`);
      expect(text).toContain(`\n\n— ${value}\n\n${value}\n`);
    },
  );
});
