import { Problem } from './api.js';
import { showProblem } from './messages.js';
import { failureOf } from './providers.js';

// Stays in the URL, so that the page still says what went wrong after it was reloaded.
const code = new URLSearchParams(location.search).get('error') ?? '';
showProblem(new Problem({ code, detail: failureOf(code) }));
