import { callbackUrls } from './callback-urls.js';
import { config } from './config.js';
import { headers } from './headers.js';
import { identifiers } from './identifiers.js';
import { passkeyResponses } from './passkeys.js';
import type { Fuzz } from './property.js';
import { requests } from './requests.js';
import { sockets } from './sockets.js';
import { stored } from './stored.js';
import type { World } from './world.js';

/** What is tried on functions. */
export const ofFunctions: readonly Fuzz[] = [
  ...identifiers,
  ...callbackUrls,
  ...headers,
  ...stored,
  ...config,
];

/** What is tried on a running app. */
export const ofRoutes = (world: World): readonly Fuzz[] => [
  ...requests(world),
  ...passkeyResponses(world),
  ...sockets(world),
];
