export { useSession } from './client/use-session.js';
