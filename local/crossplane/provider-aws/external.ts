/** One resource in AWS as its managed resource describes it: observe, create, update, delete. */

import { randomUUID } from "node:crypto";
import { withCallSettings } from "../../aws/call-settings.ts";
import type { Aws } from "../../aws/connection.ts";
import { type Difference, differenceOf } from "../../aws/difference.ts";
import { IncompleteError } from "../../aws/handler.ts";
import { changeOf } from "../../aws/lifecycle.ts";
import type { Properties } from "../../aws/properties.ts";
import type { Kind } from "./kind.ts";
import { externalName, type Managed } from "./managed.ts";
import { atProvider, inputsOf, mergeSpec, observedParameters, recorded, specFields, toProperties } from "./shape.ts";

export interface Observation {
  readonly id: string;
  readonly atProvider: Properties;
  /** In the form of `spec.forProvider`. */
  readonly parameters: Properties;
  readonly difference: Difference;
  readonly connection: Readonly<Record<string, string>>;
}

export type External = ReturnType<typeof externalOf>;

/**
 * Inputs that are compared with AWS: all that the kind offers, except a generated name and those that only `initProvider` sets.
 * These count at creation only.
 */
function heldInputs(kind: Kind, { spec }: Managed): string[] {
  const { handler, named, generatedName: generated } = kind;
  const fields = specFields(kind.fields);
  const offered = Object.keys(fields);
  const initial = toProperties(fields, spec.initProvider ?? {});
  const wanted = toProperties(fields, spec.forProvider);
  const left = (name: string) => wanted[name] === undefined && (initial[name] !== undefined || name === generated);
  return [...offered.filter((name) => !left(name)), ...(named ? [named] : []), ...(handler.tagged ? ["tagsAll"] : [])];
}

/**
 * `inputs` with what AWS has of those that only `initProvider` sets: these count at creation only. Members of blocks are enforced: the
 * provider looks for them under another name up to v2.7.0 (crossplane/upjet#728).
 */
function withoutInitial(inputs: Properties, initial: Properties, wanted: Properties, actual: Properties): Properties {
  const left = Object.keys(initial).filter((name) => wanted[name] === undefined);
  return { ...inputs, ...Object.fromEntries(left.map((name) => [name, actual[name]])) };
}

/** A difference with the secret inputs that are others than they were: AWS tells none of them. */
function withSecrets(difference: Difference, known: Properties, secrets: Properties): Difference {
  const others = Object.entries(secrets).flatMap(([name, value]) => (known[name] === value ? [] : [name]));
  const before = Object.fromEntries(others.map((name) => [name, known[name]]));
  return { ...difference, changed: [...difference.changed, ...others], before: { ...difference.before, ...before } };
}

/**
 * The resource of `managed`.
 * @param secrets inputs that its specification only refers to
 * @param known what they were when they were last given to AWS
 */
export function externalOf(kind: Kind, managed: Managed, aws: Aws, secrets: Properties = {}, known = secrets) {
  const { handler, named } = kind;
  const spec = mergeSpec(managed.spec.initProvider, managed.spec.forProvider);
  const given = externalName(managed);
  const name = given === undefined ? undefined : (kind.nameOf?.(given) ?? given);
  const inputs: Properties = {
    ...generatedName(kind),
    ...inputsOf(kind, spec),
    ...(named && { [named]: name }),
    ...secrets,
  };
  const heldTo = (actual: Properties): Properties => {
    const [initial, wanted] = [managed.spec.initProvider ?? {}, managed.spec.forProvider];
    return withoutInitial(inputs, toProperties(kind.fields, initial), toProperties(kind.fields, wanted), actual);
  };
  const last = { ...inputs, ...recorded(kind, managed.status?.atProvider) };
  const region = aws.region;

  const idOf = () => (handler.idOf ? handler.idOf({ ...last, ...(named && { [named]: name }) }) : given);
  const nameOf = (id: string): string => (named ? (given as string) : id);

  return {
    /** Undefined: it doesn't exist. */
    async observe(): Promise<Observation | undefined> {
      const id = idOf();
      const actual = id === undefined ? null : await handler.read(aws, id, last);
      if (id === undefined || !actual) return undefined;
      return {
        id,
        atProvider: atProvider(kind, id, actual, region),
        parameters: observedParameters(kind, actual),
        difference: withSecrets(
          differenceOf(handler, heldInputs(kind, managed), heldTo(actual), actual),
          known,
          secrets,
        ),
        connection: kind.connection?.({ ...actual, ...secrets }) ?? {},
      };
    },

    /** Creates it and resolves when it is usable; `made` receives its external name, also of one that did not become usable. */
    async create(made: (externalName: string) => Promise<void>): Promise<void> {
      const mistakes = handler.validate?.(inputs) ?? [];
      if (mistakes.length > 0)
        throw new Error(mistakes.map(({ property, reason }) => `${property}: ${reason}`).join("; "));
      try {
        await made(nameOf(await handler.create(aws, inputs)));
      } catch (error) {
        // It exists, and is not usable yet: from here on it is observed like any other.
        if (error instanceof IncompleteError) await made(nameOf(error.id));
        throw error;
      }
    },

    /** `renamed` receives the external name if the change gives the resource another one. */
    async update(observed: Observation, renamed: (externalName: string) => Promise<void>): Promise<void> {
      const { id, difference } = observed;
      const made = (newId: string) => renamed(nameOf(newId));
      await withCallSettings({ made }, async () =>
        handler.update?.(aws, id, changeOf(handler, difference.before, difference.after)),
      );
    },

    /** Removes it and waits until it is gone; one that is gone is not an error. */
    async delete(): Promise<void> {
      const id = idOf();
      if (id !== undefined) await handler.delete(aws, id, last);
    },
  };
}

/** The name that Terraform makes up, another one at every attempt. */
const generatedName = (kind: Kind): Properties =>
  kind.generatedName ? { [kind.generatedName]: `terraform-${randomUUID().replaceAll("-", "")}` } : {};
