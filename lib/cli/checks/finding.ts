/** The result of a check of `latchkey doctor`. */
export interface Finding {
  /** The name of the check. */
  readonly check: string;
  /** `problem`: something fails or is unsafe. `warning`: something is rarely intended. `skipped`: nothing is known. */
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly detail: string;
  /** The fix. Null if there is nothing to do. */
  readonly mend: string | null;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail, mend: null };
}

export function skipped(check: string, detail: string): Finding {
  return { check, status: 'skipped', detail, mend: null };
}

export function warning(check: string, detail: string, mend: string): Finding {
  return { check, status: 'warning', detail, mend };
}

export function problem(check: string, detail: string, mend: string): Finding {
  return { check, status: 'problem', detail, mend };
}
