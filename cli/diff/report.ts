import { isOrphan } from "../../functions/spoke/orphan.ts";
import { hubName } from "../../lib/names.ts";
import { specimenOf } from "../render/workspace.ts";
import { type ChartOptions, chartItems } from "./charts.ts";
import { type Change, compare, sorted } from "./compare.ts";
import { type CostChange, costChange } from "./costs.ts";
import type { Stack } from "./preview.ts";
import { handedOver, type Item, type State, stepId } from "./state.ts";
import { isInAws } from "./stateful.ts";

/** The blast radius of a change: its effect on each cluster and stack. */

export interface ClusterReport {
  readonly name: string;
  /** Undefined for the hub. */
  readonly environment?: string;
  /** Whether this is the sample of a spoke that somebody could make from the template. */
  readonly template: boolean;
  /** Replaced or deleted stateful objects first. */
  readonly changes: readonly Change[];
  /** Why the API server refuses the change, and what the composition function can't do after it. */
  readonly problems: readonly string[];
  /** Whether the API server refuses the change or the deletion of the Spoke itself, or the Composition has not its Kubernetes version. */
  readonly refused: boolean;
  /** Of a spoke whose list price changes. */
  readonly cost?: CostChange;
}

export interface SideReport {
  readonly label: string;
  readonly commit?: string;
}

export interface Report {
  readonly base: SideReport;
  readonly head: SideReport;
  /** The hub first, then spokes by name, then samples of templates; unchanged ones included. */
  readonly clusters: readonly ClusterReport[];
  readonly stacks: readonly Stack[];
  /** Facts that are not the real ones. */
  readonly assumed: readonly string[];
  /** What could not be compared, and why: the report is not complete. */
  readonly gaps: readonly string[];
  /** How things were compared. */
  readonly notes: readonly string[];
}

export interface ReportOptions {
  readonly base: State;
  readonly head: State;
  readonly stacks: readonly Stack[];
  /** Facts that are not the real ones. */
  readonly assumed?: readonly string[];
  /** How things were compared, beside what the states say of it. */
  readonly notes?: readonly string[];
  readonly charts: Omit<ChartOptions, "kubernetesVersion">;
}

const isBroken = ({ fleet, findings }: State) => findings.length > 0 && fleet.steps.some(({ complete }) => !complete);

/** Kustomizations whose objects could not be determined. */
const unknownSteps = (state: State): string[] =>
  isBroken(state) ? state.fleet.steps.filter(({ complete }) => !complete).map(stepId) : [];

function gapsOf(state: State, name: "base" | "head"): string[] {
  const { findings, spokes, side } = state;
  const problems = findings.map(({ problem, place: { file, line } }) => {
    const path = state.workspace.original(file).replace(`${side.root}/`, "").replace(`${side.repos}/`, "");
    return `${name}, ${path}:${line}: ${problem}`;
  });
  const failed = [...spokes.failed].map(([spoke, why]) => `${name}, Spoke ${spoke}: ${why}`);
  const refused = [...spokes.composed].flatMap(([spoke, composed]) =>
    handedOver(composed)
      ? []
      : [
          `${name}, Spoke ${spoke} gets no cluster: ${composed.life.problems[0] ?? "the simulation never got that far"}`,
        ],
  );
  return [...problems, ...failed, ...refused];
}

class Comparing {
  readonly #options: ReportOptions;
  readonly #unknown: ReadonlySet<string>;
  readonly #notes = new Set<string>();

  constructor(options: ReportOptions) {
    this.#options = options;
    for (const note of options.notes ?? []) this.#notes.add(note);
    this.#unknown = new Set([options.base, options.head].flatMap(unknownSteps));
  }

  report(): Report {
    const { base, head, stacks } = this.#options;
    const names = new Set([...base.clusters.keys(), ...head.clusters.keys()]);
    const failed = new Set([...base.spokes.failed.keys(), ...head.spokes.failed.keys()]);
    const rank = (name: string) => `${name === hubName ? 0 : this.#specimen(name) === undefined ? 1 : 2}${name}`;
    const clusters = [...names]
      .filter((name) => !failed.has(name))
      .sort((a, b) => (rank(a) < rank(b) ? -1 : 1))
      .map((name) => this.#cluster(name));
    const side = ({ side: { label, commit } }: State) => ({ label, ...(commit === undefined ? {} : { commit }) });
    return {
      base: side(base),
      head: side(head),
      clusters,
      stacks,
      assumed: this.#options.assumed ?? [],
      gaps: [...new Set([...gapsOf(base, "base"), ...gapsOf(head, "head")])],
      notes: [...new Set([...base.notes, ...head.notes, ...this.#notes])].sort(),
    };
  }

  #specimen(name: string): string | undefined {
    return specimenOf(name, this.#options.head.workspace) ?? specimenOf(name, this.#options.base.workspace);
  }

  /** The objects that could be determined in both states. */
  #known(state: State, name: string): Item[] {
    const items = state.clusters.get(name) ?? [];
    return items.filter(({ steps }) => !steps.some((step) => this.#unknown.has(step)));
  }

  #cluster(name: string): ClusterReport {
    const { base, head, charts } = this.#options;
    const [all, after] = [this.#known(base, name), this.#known(head, name)];
    const isReleased = this.#isReleased(name);
    if (isReleased)
      this.#notes.add(`${name}: the fleet lets it go; everything in AWS and on the cluster stays as it is`);
    const before = isReleased ? all.filter(({ manifest, on }) => on === hubName && !isInAws(manifest)) : all;
    const spoke = (head.spokes.composed.get(name) ?? base.spokes.composed.get(name))?.life.spoke;
    const kubernetesVersion = () => spoke?.spec.kubernetesVersion;
    const everything = [base, head].map(({ clusters }) => [...clusters.values()].flat());
    const releases = chartItems(before, after, { ...charts, kubernetesVersion }, everything);
    for (const note of releases.notes) this.#notes.add(`${name}: ${note}`);
    const changes = sorted([...compare(before, after), ...compare(releases.before, releases.after)]);
    const environment = this.#specimen(name) ?? spoke?.spec.environment;
    const said = this.#problems(name);
    const cost = said.refused ? undefined : this.#cost(name);
    return {
      name,
      ...(environment === undefined ? {} : { environment }),
      template: this.#specimen(name) !== undefined,
      changes,
      ...said,
      ...(cost === undefined ? {} : { cost }),
    };
  }

  /** A sample is paid by nobody, and what the fleet lets go is paid for as before. */
  #cost(name: string): CostChange | undefined {
    if (this.#specimen(name) !== undefined || this.#isReleased(name)) return undefined;
    const [before, after] = [this.#options.base, this.#options.head].map((state) => state.spokes.composed.get(name));
    return costChange(before?.life.spoke, after?.life.spoke);
  }

  /** Whether a Spoke goes and takes nothing with it. */
  #isReleased(name: string): boolean {
    const { base, head } = this.#options;
    const before = base.spokes.composed.get(name)?.life.spoke;
    return before !== undefined && isOrphan(before) && !head.spokes.composed.has(name);
  }

  #problems(name: string): Pick<ClusterReport, "problems" | "refused"> {
    const { base, head } = this.#options;
    const [before, is] = [base.spokes.composed.get(name), head.spokes.composed.get(name)];
    const was = before?.life;
    const known = new Set(was?.problems);
    const isProtected = was?.spoke.spec.deletionProtection === true && !is && !this.#isReleased(name);
    const unsupported = is?.unsupported === before?.unsupported ? undefined : is?.unsupported;
    const refusals = [
      ...(unsupported === undefined ? [] : [`will not be carried out: ${unsupported}`]),
      ...(is?.refusals ?? []).map((message) => `will be refused: ${message}`),
      ...(isProtected
        ? ["spec.deletionProtection is on: the API server refuses this deletion until a commit turns it off"]
        : []),
    ];
    const isNew = (problem: string) => !known.has(problem);
    // The function says the same in its own words, and that the control plane is being upgraded to the version.
    const version = is?.life.spoke.spec.kubernetesVersion ?? "";
    const isTwice = (problem: string) => unsupported !== undefined && problem.includes(version);
    const others = (is?.life.problems ?? []).filter((problem) => isNew(problem) && !isTwice(problem));
    return { problems: [...refusals, ...others], refused: refusals.length > 0 };
  }
}

export const reportOf = (options: ReportOptions): Report => new Comparing(options).report();
