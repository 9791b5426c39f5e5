export type { Claims, FieldsOf, Profile, ProviderPlugin } from './plugins/oauth/provider.js';
export { type AppleClaims, type AppleOptions, apple } from './plugins/oauth/providers/apple.js';
export { discord } from './plugins/oauth/providers/discord.js';
export { facebook } from './plugins/oauth/providers/facebook.js';
export { type GithubOptions, github } from './plugins/oauth/providers/github.js';
export { type GitlabOptions, gitlab } from './plugins/oauth/providers/gitlab.js';
export { google } from './plugins/oauth/providers/google.js';
export { linkedin } from './plugins/oauth/providers/linkedin.js';
export { type MicrosoftOptions, microsoft } from './plugins/oauth/providers/microsoft.js';
export { type OAuth2Options, oauth2 } from './plugins/oauth/providers/oauth2.js';
export { type OidcOptions, oidc } from './plugins/oauth/providers/oidc.js';
export type {
  CallbackOptions,
  ClientAuthOptions,
  DiscoveredOptions,
  EndpointOptions,
  Endpoints,
  ProfileAlias,
  ProviderOptions,
} from './plugins/oauth/providers/options.js';
export { type SlackOptions, slack } from './plugins/oauth/providers/slack.js';
export { spotify } from './plugins/oauth/providers/spotify.js';
export { twitch } from './plugins/oauth/providers/twitch.js';
export { x } from './plugins/oauth/providers/x.js';
