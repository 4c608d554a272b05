import type { Spoke } from "../../functions/spoke/api.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { withMachinery } from "../../lib/machinery.ts";
import { type Schema, withDefaults } from "../../lib/openapi.ts";
import { validate } from "../check/cel/validations.ts";
import type { Manifest } from "../render/files.ts";
import { isSpoke, type Rendered, type RenderedFleet } from "../render/fleet.ts";
import type { Build } from "../render/kustomize.ts";
import { compositionOf, compositionRef, spokeSchema, takes, unsupportedVersion } from "../render/spoke-steps.ts";
import { specimenOf, versionOfNewSpokes, type Workspace } from "../render/workspace.ts";
import { earlier, isManual } from "./channels.ts";
import type { Code } from "./function.ts";
import { type Life, life } from "./life.ts";
import type { Side } from "./side.ts";

/** Runs the composition function for every Spoke of a state. */

/** A Spoke with the Composition that it uses. */
export interface Composed {
  readonly manifest: Manifest;
  readonly composition: Manifest;
  readonly life: Life;
  /** Why the API server refuses the change from the state before, by the definition's rules about changes. */
  readonly refusals: readonly string[];
  /** What is wrong with the Kubernetes version, if the Composition does not have it. */
  readonly unsupported: string | undefined;
}

export interface Spokes {
  readonly composed: ReadonlyMap<string, Composed>;
  /** Spokes that could not be rendered, with the reason. */
  readonly failed: ReadonlyMap<string, string>;
  readonly notes: readonly string[];
}

export interface SpokesOptions {
  readonly side: Side;
  readonly workspace: Workspace;
  readonly build: Build;
  /** What Flux applies on the hub. */
  readonly fleet: RenderedFleet;
  readonly code: Code;
  /** Data of the hub's cluster secret, for a Spoke. */
  readonly hubOf: (spoke: Spoke) => Readonly<Record<string, string>>;
  /** The state before, if there is one. */
  readonly before?: Spokes;
  /** Recorded resources by spoke and composition resource name. */
  readonly recorded: ReadonlyMap<string, ReadonlyMap<string, KubeObject>>;
}

const onHub = ({ hub }: RenderedFleet, is: (manifest: Manifest) => boolean): Rendered[] =>
  hub.objects.filter(({ manifest }) => is(manifest));

/** A Spoke as the API server stores it. */
function stored(manifest: Manifest, schema: Schema): Spoke {
  const filled = withDefaults(schema, manifest) as unknown as Spoke;
  const { name } = filled.metadata;
  return {
    ...filled,
    metadata: { ...filled.metadata, uid: `uid-${name}`, creationTimestamp: "2026-01-01T00:00:00Z", generation: 1 },
  };
}

type TakingOptions = Pick<SpokesOptions, "side" | "workspace" | "build" | "fleet" | "before">;

/** Which revision of the Composition each Spoke takes. */
class Taking {
  readonly #options: TakingOptions;

  constructor(options: TakingOptions) {
    this.#options = options;
  }

  /** Whether a Spoke is the sample of a template: it is new in every state. */
  isSpecimen({ metadata: { name } }: Manifest): boolean {
    return specimenOf(name, this.#options.workspace) !== undefined;
  }

  /**
   * The revision; undefined when the hub does not apply its Composition.
   * @param unknown is called when the state does not have the revision
   */
  of(spoke: Manifest, unknown: () => void = () => {}): Manifest | undefined {
    const { side, workspace, build, before, fleet } = this.#options;
    const composition = compositionOf(spoke, fleet.hub);
    if (!composition) return undefined;
    const previous = before?.composed.get(spoke.metadata.name)?.composition;
    const stays = previous !== undefined && isManual(spoke) && !this.isSpecimen(spoke);
    if (takes(spoke, composition.manifest) && !stays) return composition.manifest;
    const found = previous ?? earlier({ side, workspace, build }, composition, spoke);
    if (!found) unknown();
    return found ?? composition.manifest;
  }
}

/**
 * Gives the samples of templates the Kubernetes version of new spokes in their environment's revision of the Composition.
 * @returns whether a file was changed
 */
export function versionSpecimens(options: TakingOptions): boolean {
  const taking = new Taking(options);
  const { fleet, workspace } = options;
  const outdated = onHub(fleet, isSpoke).flatMap(({ manifest }) => {
    const environment = specimenOf(manifest.metadata.name, workspace);
    if (environment === undefined) return [];
    const composition = taking.of(manifest);
    const version = composition && versionOfNewSpokes(composition);
    return version === undefined || version === manifest.spec?.kubernetesVersion ? [] : [{ environment, version }];
  });
  for (const { environment, version } of outdated) workspace.remake(environment, version);
  return outdated.length > 0;
}

class Making {
  readonly #options: SpokesOptions;
  readonly #taking: Taking;
  readonly #schema: Schema | undefined;
  readonly #composed = new Map<string, Composed>();
  readonly #failed = new Map<string, string>();
  readonly #notes = new Set<string>();

  constructor(options: SpokesOptions) {
    this.#options = options;
    this.#taking = new Taking(options);
    const schema = spokeSchema(options.fleet.hub);
    this.#schema = schema && withMachinery(schema);
  }

  async all(): Promise<Spokes> {
    const { before, fleet } = this.#options;
    // Existing spokes come first: they have their networks.
    const rank = ({ metadata: { name } }: Manifest): string => `${before?.composed.has(name) ? 0 : 1}${name}`;
    const spokes = onHub(fleet, isSpoke)
      .map(({ manifest }) => manifest)
      .sort((a, b) => (rank(a) < rank(b) ? -1 : 1));
    for (const manifest of spokes) await this.#make(manifest);
    return { composed: this.#composed, failed: this.#failed, notes: [...this.#notes].sort() };
  }

  async #make(manifest: Manifest): Promise<void> {
    const { name } = manifest.metadata;
    try {
      const composition = this.#taken(manifest);
      const { code, hubOf, before, recorded } = this.#options;
      const isSpecimen = this.#taking.isSpecimen(manifest);
      const previous = isSpecimen ? undefined : before?.composed.get(name)?.life;
      const fresh = stored(manifest, this.#schema ?? {});
      const spoke = previous?.spoke.status === undefined ? fresh : { ...fresh, status: previous.spoke.status };
      const own = recorded.get(name);
      // A sample gets no network that a real spoke needs, and always the same one, whatever spokes are added or removed.
      const others = [...this.#composed.values()].filter(
        (other) => this.#taking.isSpecimen(other.manifest) === isSpecimen,
      );
      this.#composed.set(name, {
        manifest,
        composition,
        refusals: previous ? this.#refusals(spoke, previous.spoke) : [],
        unsupported: unsupportedVersion(manifest, composition),
        life: await life({
          handler: code.handler,
          hub: hubOf(spoke),
          input: composition.spec.pipeline[0].input,
          spoke,
          others: others.map((other) => other.life.spoke),
          ...(previous ? { before: previous.observed } : {}),
          ...(own ? { recorded: own } : {}),
        }),
      });
    } catch (error) {
      this.#failed.set(name, (error as Error).message);
    }
  }

  #refusals(spoke: Spoke, before: Spoke): string[] {
    const { broken, unknown } = validate(this.#schema ?? {}, spoke, before);
    for (const { rule, why } of unknown)
      this.#notes.add(`${spoke.metadata.name}: the rule ${rule} of the definition was not evaluated: ${why}`);
    return broken.filter(({ isTransition }) => isTransition).map(({ message }) => message);
  }

  /** The revision of the Composition that the Spoke uses. @throws Error when the hub applies none */
  #taken(spoke: Manifest): Manifest {
    const { label } = this.#options.side;
    const composition = this.#taking.of(spoke, () =>
      this.#notes.add(
        `${spoke.metadata.name} uses an older revision of the Composition, which ${label} does not have; it is rendered with the one of ${label}`,
      ),
    );
    if (composition && this.#schema) return composition;
    throw new Error(
      `the hub applies no Composition ${compositionRef(spoke)} or no CompositeResourceDefinition for Spokes`,
    );
  }
}

/** Renders every Spoke that Flux applies on the hub. */
export const composeSpokes = (options: SpokesOptions): Promise<Spokes> => new Making(options).all();
