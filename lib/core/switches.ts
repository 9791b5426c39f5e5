const switches = new Map<string, string>();

/** Registers how to enable a feature, for error messages. Called when the module of the feature is loaded. */
export function declareSwitch(feature: string, how: string): void {
  switches.set(feature, how);
}

export function howToSwitchOn(feature: string): string | undefined {
  return switches.get(feature);
}
