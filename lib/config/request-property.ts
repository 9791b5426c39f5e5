import { IncomingMessage } from 'node:http';
import * as z from 'zod';

// Express's own properties, and those of its usual middleware.
const TAKEN = new Set(
  (
    'app,body,cookies,file,files,host,hostname,ip,ips,method,next,originalUrl,params,path,protocol,query,rawBody,res,route,' +
    'secure,secret,session,sessionID,sessionStore,signedCookies,stale,fresh,subdomains,user,xhr,baseUrl,login,logout'
  ).split(','),
);

/** The schema of `requestProperty` in the config. */
export const requestPropertySchema = z
  .string('must be the name of a property of requests, such as auth')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be a name of letters, digits and _')
  .refine((name) => !TAKEN.has(name) && !(name in IncomingMessage.prototype), {
    error: 'is a property that requests have already: choose another',
  });
