import { oauth2 } from '../../lib/providers.js';

/** A provider for specs that never visit it. */
export const fixedProvider = () =>
  oauth2({
    id: 'fixed',
    clientId: 'app',
    clientSecret: 'the client secret',
    authorizationUrl: 'https://fixed.example/authorize',
    tokenUrl: 'https://fixed.example/token',
    userinfoUrl: 'https://fixed.example/userinfo',
  });
