export type { Profile, ProviderPlugin } from './plugins/oauth/provider.js';
export { type AppleOptions, apple } from './plugins/oauth/providers/apple.js';
export { discord } from './plugins/oauth/providers/discord.js';
export { facebook } from './plugins/oauth/providers/facebook.js';
export { type GithubOptions, github } from './plugins/oauth/providers/github.js';
export { gitlab } from './plugins/oauth/providers/gitlab.js';
export { google } from './plugins/oauth/providers/google.js';
export { linkedin } from './plugins/oauth/providers/linkedin.js';
export { type MicrosoftOptions, microsoft } from './plugins/oauth/providers/microsoft.js';
export { type OAuth2Options, oauth2 } from './plugins/oauth/providers/oauth2.js';
export { type OidcOptions, oidc } from './plugins/oauth/providers/oidc.js';
export type {
  DiscoveredOptions,
  EndpointOptions,
  Endpoints,
  ProviderOptions,
} from './plugins/oauth/providers/options.js';
