import { call } from './api.js';
import { onSubmit } from './form.js';
import { mailedToken, showDone } from './mailed-link.js';

const token = mailedToken();

onSubmit(document.querySelector('form'), async ({ new_password }) => {
  await call('POST', '/auth/passwords/reset', { token, new_password });
  showDone();
});
