/**
 * The result of a check: `ok`; `note`, worth knowing; `wrong`, something must be done; `unchecked`, the check could not be made,
 * because a permission or an answer was missing, which must be fixed too.
 */
export type Status = "ok" | "note" | "wrong" | "unchecked";

export interface Finding {
  readonly status: Status;
  /** What was checked, such as `pulumi` or `VPCs per Region`. */
  readonly name: string;
  /** What was found. */
  readonly message: string;
  /** What to do next; empty for an ok. */
  readonly todo: string;
}

export const ok = (name: string, message: string): Finding => ({ status: "ok", name, message, todo: "" });
const of =
  (status: Status) =>
  (name: string, message: string, todo: string): Finding => ({ status, name, message, todo });
export const note = of("note");
export const wrong = of("wrong");
export const unchecked = of("unchecked");

/** Findings of one kind, in the order of the checks. */
export interface Group {
  readonly name: string;
  readonly findings: readonly Finding[];
}

/** Whether somebody must do something. */
export const hasWork = (groups: readonly Group[]): boolean =>
  groups.some(({ findings }) => findings.some(({ status }) => status === "wrong" || status === "unchecked"));
