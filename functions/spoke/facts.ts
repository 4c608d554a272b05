import { groups, type Part, parts } from "./groups.ts";
import type { Observed } from "./observed.ts";
import type { Resource } from "./resources.ts";

/** Where a fact comes from: a part of the spoke, or the Spoke's specification. */
export type Origin = Part | "spec";

/** Something that has to be known before a resource can be made, and where it comes from. */
export interface Fact<T> {
  readonly from: Origin;
  /** Undefined as long as it is not known. */
  readonly value: T | undefined;
}

export const fact = <T>(from: Origin, value: T | undefined): Fact<T> => ({ from, value });

/** The name of a fact's origin in messages. */
export const originName = (origin: Origin): string =>
  origin === "spec" ? "a specification that is accepted" : parts[origin].name;

const partOf = ({ group }: Resource): Part => groups[group].part;

/** Facts about composed resources: {@link Observed}, and the part that the resource belongs to. */
export class Facts {
  readonly #observed: Observed;

  constructor(observed: Observed) {
    this.#observed = observed;
  }

  text(resource: Resource, ...path: readonly (string | number)[]): Fact<string> {
    return fact(partOf(resource), this.#observed.text(resource, ...path));
  }

  readyText(resource: Resource, ...path: readonly (string | number)[]): Fact<string> {
    return fact(partOf(resource), this.#observed.readyText(resource, ...path));
  }

  number(resource: Resource, ...path: readonly (string | number)[]): Fact<number> {
    return fact(partOf(resource), this.#observed.number(resource, ...path));
  }

  /** That `resource` is there, whether or not it works. */
  present(resource: Resource): Fact<true> {
    return fact(partOf(resource), this.#observed.has(resource) || undefined);
  }

  /** That all of the resources work; they are of one part. */
  ready(first: Resource, ...others: readonly Resource[]): Fact<true> {
    const all = [first, ...others].every((resource) => this.#observed.ready(resource));
    return fact(partOf(first), all || undefined);
  }
}
