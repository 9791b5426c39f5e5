import { call } from './api.js';
import { confirmWithLink } from './mailed-link.js';

confirmWithLink((fields) => call('POST', '/auth/verify-email', fields));
