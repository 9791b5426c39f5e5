import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { html, isHtml, unsafeHtml } from '../lib/html.js';

test('escapes values for text and for quoted attributes', () => {
  const value = `<script>alert("1")</script> & 'more'`;
  expect(`${html`<p title="${value}">${value}</p>`}`).toBe(
    '<p title="&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;">' +
      '&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; &#39;more&#39;</p>',
  );
});

test('keeps markup, and leaves out what is not there', () => {
  const items = ['a<', 'b'].map((item) => html`<li>${item}</li>`);
  expect(`${html`<ul>${items}</ul>${null}${undefined}${false}${0}${[]}`}`).toBe(
    '<ul><li>a&lt;</li><li>b</li></ul>0',
  );
  expect(`${html`${unsafeHtml('<b>bold</b>')}`}`).toBe('<b>bold</b>');
});

test('takes nothing for markup that only looks like it', () => {
  const fake = { toString: () => '<b>' };
  expect(isHtml(fake)).toBe(false);
  expect(isHtml('<b>')).toBe(false);
  expect(isHtml(JSON.parse('{"Symbol(latchkey.html)":"<b>"}'))).toBe(false);
  expect(isHtml(html`<b>`)).toBe(true);
});

test('no value leaves its element or its attribute', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (value) => {
      const [, attribute, text] = /^<p title="([^"]*)">([^<]*)<\/p>$/.exec(
        `${html`<p title="${value}">${value}</p>`}`,
      ) as RegExpExecArray;
      expect(attribute).toBe(text);
      expect(attribute).not.toMatch(/[<>'"]/);
    }),
  );
});
