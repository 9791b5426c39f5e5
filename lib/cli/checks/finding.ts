/** What a check of `latchkey doctor` has found. */
export interface Finding {
  /** What was checked. */
  readonly check: string;
  /** `problem`: something does not work, or not safely. `warning`: it rarely is what was meant. `skipped`: not known. */
  readonly status: 'ok' | 'warning' | 'problem' | 'skipped';
  readonly detail: string;
  /** What to do about it. Null if there is nothing to do. */
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
