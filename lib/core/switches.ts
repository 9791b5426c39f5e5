const switches = new Map<string, string>();

/** Says how to switch a feature on, for errors about one that is off. Called when the module that brings it is loaded. */
export function declareSwitch(feature: string, how: string): void {
  switches.set(feature, how);
}

export function howToSwitchOn(feature: string): string | undefined {
  return switches.get(feature);
}
