import { createHash, createPrivateKey, sign } from 'node:crypto';
import type { RegistrationResponseJSON } from '@simplewebauthn/server';
import { base64url } from './authenticator.js';
import { type Cbor, encodeCbor } from './cbor.js';

// A certificate of an authenticator's vendor, as in `packed` attestations, which names a revocation list. It is
// self-signed, and valid until 2120. The certificate and its key are used only here.
const CERTIFICATE =
  'MIIB5jCCAY2gAwIBAgIBATAKBggqhkjOPQQDAjBPMQswCQYDVQQGEwJYWDENMAsGA1UECgwEU3BlYzEiMCAGA1UECwwZQXV0' +
  'aGVudGljYXRvciBBdHRlc3RhdGlvbjENMAsGA1UEAwwEU3BlYzAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFow' +
  'TzELMAkGA1UEBhMCWFgxDTALBgNVBAoMBFNwZWMxIjAgBgNVBAsMGUF1dGhlbnRpY2F0b3IgQXR0ZXN0YXRpb24xDTALBgNV' +
  'BAMMBFNwZWMwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAAS6VF0wj8cUxr3felTsZ7A+zPewZkNcAXtx71PoU/A7jZtDEKLb' +
  'sD2oQyu9lpgJ9j0f+vZeR5mdvEK3q0yjNOAMo1gwVjAMBgNVHRMBAf8EAjAAMCcGA1UdHwQgMB4wHKAaoBiGFmh0dHA6Ly8x' +
  'MjcuMC4wLjE6OS9jcmwwHQYDVR0OBBYEFFU3LXeFWge0Pj36kEj2Vrs5NoRcMAoGCCqGSM49BAMCA0cAMEQCIHtOxTCSXXJ2' +
  'gSwWIJ8YKv4j0LtMW/42c6oWTRQFR3gzAiA/mFcHAH6aFXdJrTV6KUHNx9nzWILSoRfR7TZ9/FTZtg==';
const KEY =
  'MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQge1C8F/JBnpRkGAVc1MlS+DVruB9tKerjJ5pfmflZ9ZGhRANC' +
  'AAS6VF0wj8cUxr3felTsZ7A+zPewZkNcAXtx71PoU/A7jZtDEKLbsD2oQyu9lpgJ9j0f+vZeR5mdvEK3q0yjNOAM';

/** Returns the response with a valid statement of the authenticator's vendor, as if attestation had been requested. */
export function attested(response: RegistrationResponseJSON): RegistrationResponseJSON {
  const authData = Buffer.from(response.response.authenticatorData ?? '', 'base64url');
  const clientData = Buffer.from(response.response.clientDataJSON, 'base64url');
  const signed = Buffer.concat([authData, createHash('sha256').update(clientData).digest()]);
  const key = createPrivateKey({ key: Buffer.from(KEY, 'base64'), format: 'der', type: 'pkcs8' });
  const statement = new Map<string, Cbor>([
    ['alg', -7],
    ['sig', sign('sha256', signed, key)],
    ['x5c', [Buffer.from(CERTIFICATE, 'base64')]],
  ]);
  const object = new Map<string, Cbor>([
    ['fmt', 'packed'],
    ['attStmt', statement],
    ['authData', authData],
  ]);
  return {
    ...response,
    response: { ...response.response, attestationObject: base64url(encodeCbor(object)) },
  };
}
