import { call } from './api.js';
import { confirmWithLink } from './mailed-link.js';
import { withFreshSignIn } from './reauthenticate.js';

confirmWithLink((fields) => withFreshSignIn(() => call('POST', '/auth/email-changes/confirm', fields)));
