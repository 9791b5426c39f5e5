import { call } from './api.js';
import { showProblem } from './messages.js';
import { fillList, formatSecond, row } from './page.js';

const POLL_MS = 2000;
const list = document.getElementById('mails');
let shown;

/** Emails are sent after the response, so the page checks for new ones regularly. */
async function load() {
  const { mails } = await call('GET', '/api/mails');
  showProblem(null);
  const ids = mails.map(({ id }) => id).join();
  // Otherwise the selection and the focus would be lost on every update.
  if (ids !== shown) fillList(list, mails.map(item));
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

async function poll() {
  if (!document.hidden) await load().catch(showProblem);
  setTimeout(poll, POLL_MS);
}

poll();
