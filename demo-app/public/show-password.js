/**
 * Adds a button to each password field of a form that shows what was typed.
 *
 * @returns a function that hides the passwords again. It must be called before the form is sent, because browsers may
 *   store the content of other fields to suggest it later
 */
export function offerToShowPasswords(form) {
  const hides = [...form.querySelectorAll('[type=password]')].map((field) => {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'quiet';
    button.setAttribute('aria-controls', field.id);
    const box = document.createElement('div');
    box.className = 'password';
    field.replaceWith(box);
    box.append(field, button);

    const name = field.labels[0].textContent.toLowerCase();
    const setShown = (shown) => {
      field.type = shown ? 'text' : 'password';
      button.textContent = shown ? 'Hide' : 'Show';
      button.setAttribute('aria-label', `${button.textContent} ${name}`);
    };
    button.addEventListener('click', () => setShown(field.type === 'password'));
    setShown(false);
    return () => setShown(false);
  });
  return () => {
    for (const hide of hides) hide();
  };
}
