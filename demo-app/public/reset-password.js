import { call } from './api.js';
import { onSubmit } from './form.js';

const form = document.querySelector('form');
const token = new URLSearchParams(location.search).get('token') ?? '';

onSubmit(form, async ({ new_password }) => {
  await call('POST', '/auth/passwords/reset', { token, new_password });
  form.hidden = true;
  document.getElementById('done').hidden = false;
});
