import { constants, Script } from 'node:vm';

/**
 * Loads a package that exists as ES modules only.
 *
 * Jest replaces `require`, and its version cannot load ES modules unless Jest runs with `--experimental-vm-modules`
 * (https://jestjs.io/docs/ecmascript-modules). If loading fails for this reason, Node's own loader imports the module:
 * https://nodejs.org/docs/latest-v20.x/api/vm.html#vmconstantsuse_main_context_default_loader
 *
 * @param load imports the package, so that bundlers see its name
 */
export async function loadEsModule<Module>(name: string, load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (error) {
    // Only the CommonJS build has `__filename`, and only that build can run in such a Jest project.
    if (typeof __filename === 'undefined') throw error;
    const script = new Script(`import(${JSON.stringify(name)})`, {
      filename: __filename,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    return script.runInThisContext();
  }
}
