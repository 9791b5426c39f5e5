import type { RequestHandler } from 'express';

/** The names of fields in requests and responses whose values are not secret. */
const PUBLIC = new Set(
  (
    'id,ip_address,start,userHandle,email,new_email,credential,username,nickname,name,reason,until,method,type,kind,factor,via,ip,user_agent,device,provider,' +
    'subject,scopes,scope,prefix,transports,format,alg,rpId,rp_id,user_id,accepted,status,code_name,title,detail,pointer,redirect_to,error_to,' +
    'displayName,attestation,userVerification,residentKey,authenticatorAttachment,device_type,undone,description,rawId,' +
    'callback_url,error,error_description,client_id,redirect_uri,response_type,response_mode,code_challenge,iss,url,' +
    'code_challenge_method,second_factor,missing,grant_type,token_type,methods,client_name,amr,issuer,login_hint,created_at,' +
    'email_proof,changed,purpose,step,roles,role,slug,invited_by,before,after'
  ).split(','),
);
const HARMLESS =
  /^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|[^@\s]+@[^@\s]+|true|false|\/[\w/-]*)$/;

/** Everything that an app receives or sends, and that must not be in its logs. */
export class Overheard {
  readonly secrets = new Set<string>();

  add(...values: readonly (string | null | undefined)[]): void {
    for (const value of values)
      if (value && value.length >= 6 && !HARMLESS.test(value)) this.secrets.add(value);
  }

  /** The strings in a value, apart from those whose names are known to be harmless. */
  addAll(value: unknown, name = ''): void {
    if (typeof value === 'string') {
      if (!PUBLIC.has(name)) this.add(value);
      return;
    }
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) this.addAll(inner, Array.isArray(value) ? name : key);
  }

  /** The parameters of a URL. */
  addParameters(url: string): void {
    this.addAll(Object.fromEntries(new URL(url, 'http://app.example').searchParams));
  }

  /** Listens to all requests and responses. */
  readonly middleware: RequestHandler = (req, res, next) => {
    const { cookie = '', authorization, 'x-service-api-key': key, 'content-type': type = '' } = req.headers;
    this.#addCookies(cookie.split('; '));
    this.add(authorization?.replace(/^\w+ /, ''), [key].flat()[0]);
    this.addParameters(req.url);
    const sent: Buffer[] = [];
    // Do not add a listener, because then the body would start to flow before the app reads it.
    const emit = req.emit.bind(req);
    req.emit = (event: string, ...given: unknown[]) => {
      if (event === 'data') sent.push(given[0] as Buffer);
      return emit(event, ...given);
    };
    const end = res.end.bind(res);
    res.end = ((...given: unknown[]) => {
      const whole = Buffer.concat(sent).toString();
      if (type.includes('json') && whole) this.addAll(JSON.parse(whole));
      if (type.includes('urlencoded')) this.addAll(Object.fromEntries(new URLSearchParams(whole)));
      this.#addCookies([res.getHeader('set-cookie') ?? []].flat().map(String));
      this.add(res.getHeader('set-auth-token') as string | undefined);
      const location = res.getHeader('location');
      if (typeof location === 'string') this.addParameters(location);
      const [text] = given;
      const isJson = String(res.getHeader('content-type')).startsWith('application/json');
      if (isJson && (typeof text === 'string' || Buffer.isBuffer(text)) && !req.url.includes('openapi'))
        this.addAll(JSON.parse(String(text)));
      return end(...(given as []));
    }) as typeof res.end;
    next();
  };

  #addCookies(pairs: readonly string[]): void {
    for (const pair of pairs) this.add(pair.split(';')[0]?.split('=').slice(1).join('='));
  }
}
