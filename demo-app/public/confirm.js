const dialog = document.getElementById('confirm');

/**
 * Asks before an action that cannot be undone. The first button, Cancel, has the focus, and Escape cancels too. Then the
 * browser moves the focus back to where it was.
 *
 * @returns whether the user agreed
 */
export function confirmed({ title, text, action }) {
  dialog.querySelector('h2').textContent = title;
  dialog.querySelector('p').textContent = text;
  dialog.querySelector('[value=confirmed]').textContent = action;
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === 'confirmed'), { once: true });
  });
}
