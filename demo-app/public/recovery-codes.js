import { onClick } from './actions.js';
import { formatDate, moveFocus, save } from './page.js';

const part = document.getElementById('codes-part');
const list = document.getElementById('codes');
const owner = document.getElementById('codes-of');

/** Shows recovery codes, which the server does not show again. @param account whose they are, for the file and on paper */
export function showCodes(codes, account) {
  list.replaceChildren(
    ...codes.map((code) => {
      const li = document.createElement('li');
      li.append(document.createElement('code'));
      li.firstChild.textContent = code;
      return li;
    }),
  );
  owner.textContent = `${account}, ${formatDate(new Date())}`;
  part.hidden = false;
  moveFocus(part.querySelector('h2'));
}

onClick(document.getElementById('download'), () => {
  const lines = [...list.children].map((li, index) => `${String(index + 1).padStart(2)}. ${li.textContent}`);
  const heading = `Recovery codes of the latchkey demo\n${owner.textContent}\nEach works once.\n`;
  save('recovery-codes.txt', [heading, ...lines, ''].join('\n'), 'text/plain');
  return 'The codes have been downloaded. Move the file to a safe place.';
});

// The style sheet leaves nothing else on the paper.
onClick(document.getElementById('print'), () => print());

onClick(document.getElementById('saved'), () => {
  list.replaceChildren();
  part.hidden = true;
  moveFocus(document.querySelector('#app-on h2'));
});
