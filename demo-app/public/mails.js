import { call } from './api.js';
import { formatSecond, row, showProblem } from './page.js';

const POLL_MS = 2000;
const list = document.getElementById('mails');
const none = document.getElementById('none');
let shown = '';

/** Mails are sent after the answer that told of them, so the page looks again and again. */
async function load() {
  const { mails } = await call('GET', '/api/mails');
  showProblem(null);
  none.hidden = mails.length > 0;
  const ids = mails.map(({ id }) => id).join();
  // Else what somebody has selected or focused would be lost at every look.
  if (ids !== shown) list.replaceChildren(...mails.map(item));
  shown = ids;
}

function item({ to, subject, text, url, sent_at }) {
  const li = row('mail', { subject, to: `To ${to}`, time: formatSecond(sent_at) });
  li.querySelector('.text').replaceChildren(
    ...text
      .trim()
      .split('\n\n')
      .map((part) => paragraph(part, url)),
  );
  return li;
}

function paragraph(text, url) {
  const p = document.createElement('p');
  if (text === url) {
    const link = document.createElement('a');
    link.href = url;
    p.append(link);
  }
  (p.firstChild ?? p).textContent = text;
  return p;
}

async function keepLooking() {
  if (!document.hidden) await load().catch(showProblem);
  setTimeout(keepLooking, POLL_MS);
}

keepLooking();
