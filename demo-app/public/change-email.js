import { call } from './api.js';
import { confirmWithLink } from './mailed-link.js';

confirmWithLink((fields) => call('POST', '/auth/email-changes/confirm', fields));
