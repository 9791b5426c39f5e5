import { constants, Script } from 'node:vm';

export type OpenidClient = typeof import('openid-client');

/**
 * Loads openid-client, which exists as an ES module only.
 *
 * Jest replaces `require`, and its version loads no ES modules unless Jest runs with `--experimental-vm-modules`
 * (https://jestjs.io/docs/ecmascript-modules). So if that fails, Node's own loader imports it:
 * https://nodejs.org/docs/latest-v20.x/api/vm.html#vmconstantsuse_main_context_default_loader
 */
export async function loadOpenidClient(): Promise<OpenidClient> {
  try {
    return await import('openid-client');
  } catch (error) {
    // Only the CommonJS build has a file name, and only it can be in a Jest project of this kind.
    if (typeof __filename === 'undefined') throw error;
    const script = new Script("import('openid-client')", {
      filename: __filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    return script.runInThisContext();
  }
}
