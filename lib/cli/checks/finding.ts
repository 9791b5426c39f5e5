/** The result of a check of `latchkey doctor`. */
export interface Finding {
  /** The name of the check. */
  readonly check: string;
  /**
   * `problem`: something fails or is unsafe. `warning`: a setting is rarely intended. `skipped`: the check could not
   * run.
   */
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly detail: string;
  /** The fix. Null if there is nothing to do. */
  readonly fix: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, fix: null };
}

export function skipped(check: string, detail: string): Finding {
  return { check, status: 'skipped', detail, fix: null };
}

export function warning(check: string, detail: string, fix: string): Finding {
  return { check, status: 'warning', detail, fix };
}

export function problem(check: string, detail: string, fix: string): Finding {
  return { check, status: 'problem', detail, fix };
}
