/** What the compiler finds: each problem once, whatever the number of clusters that it reaches. */

export const ruleNames = [
  "variable",
  "variable-type",
  "unused-key",
  "dependency",
  "definition-order",
  "path",
  "source",
  "build",
  "patch",
  "api-version",
  "schema",
  "validation",
  "pinned",
  "plain-secret",
  "sealing",
  "network",
  "fleet",
  "ring",
  "spoke",
  "team",
  "application",
] as const;

/** What a finding is about. */
export type Rule = (typeof ruleNames)[number];

export interface Place {
  /** Absolute path. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
}

/** What will be wrong, or is by now, by no change of the files: it fails no check. */
export interface Warning {
  readonly place: Place;
  /** What is wrong, and what was got. */
  readonly problem: string;
  /** What is allowed, or what to do. */
  readonly remedy: string;
  /** Clusters that it reaches; none where it is in no cluster's manifests. */
  readonly clusters: readonly string[];
}

export interface Finding extends Warning {
  readonly rule: Rule;
}

/** Collects findings; the same one for another cluster is not a new one. */
export class Findings {
  readonly #found: Map<string, Finding>;
  readonly #original: (file: string) => string;
  readonly #fleet: string | undefined;

  /** @param original the file that a person wrote, of a file that was looked at */
  constructor(original: (file: string) => string = (file) => file, found = new Map<string, Finding>(), fleet?: string) {
    this.#original = original;
    this.#found = found;
    this.#fleet = fleet;
  }

  /** The same findings, for what adds those of one fleet among several: its clusters are named with it. */
  of(fleet: string): Findings {
    return new Findings(this.#original, this.#found, fleet);
  }

  #named(cluster: string): string {
    return this.#fleet === undefined ? cluster : `${this.#fleet}/${cluster}`;
  }

  /** @param about what it is about where one line has several problems, in the words of the file */
  add(rule: Rule, where: Place, problem: string, remedy: string, cluster?: string, about = problem): void {
    const place = { ...where, file: this.#original(where.file) };
    const key = [rule, place.file, place.line, about].join("\n");
    const known = this.#found.get(key);
    const clusters = new Set([...(known?.clusters ?? []), ...(cluster === undefined ? [] : [this.#named(cluster)])]);
    this.#found.set(key, { ...(known ?? { rule, place, problem, remedy }), clusters: [...clusters].sort() });
  }

  /** By file and line. */
  sorted(): Finding[] {
    return [...this.#found.values()].sort(
      (a, b) => a.place.file.localeCompare(b.place.file) || a.place.line - b.place.line || a.rule.localeCompare(b.rule),
    );
  }
}
