/**
 * Where messages about a part of the page are shown: as close to it as there is a place for them, so that a message
 * appears next to the button that was pressed. The places are always in the page, because screen readers announce
 * changes only of elements that they know.
 */
export function messagesNear(element = document.querySelector('main > *')) {
  return element.closest(':has(> .messages)').querySelector(':scope > .messages');
}

/** Shows an error near an element, by default at the top of the page; null removes it. */
export function showProblem(problem, near) {
  write(messagesNear(near).querySelector('.alert'), problem?.message ?? '');
}

/** Shows near an element, by default at the top of the page, what was done. */
export function showStatus(text, near) {
  write(messagesNear(near).querySelector('.status'), text);
}

/** Removes earlier messages from the page. */
export function clearMessages() {
  for (const message of document.querySelectorAll('.messages > *')) write(message, '');
}

/** Writes only changes, because the same text again would be announced again. */
function write(place, text) {
  if (place.textContent !== text) place.textContent = text;
}
