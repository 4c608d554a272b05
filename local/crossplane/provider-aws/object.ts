/** A managed resource in the API server during one pass over it: every write goes through here and gives the newest version. */
import type { Properties } from "../../aws/properties.ts";
import type { Objects } from "./kube.ts";
import { annotationKeys, type Condition, conditionOf, FINALIZER, type Managed, withConditions } from "./managed.ts";

export type Change = Omit<Condition, "lastTransitionTime" | "observedGeneration">;

export class ManagedObject {
  readonly #crd: string;
  readonly #objects: Objects;
  readonly #now: () => Date;
  #managed: Managed;

  constructor(crd: string, managed: Managed, objects: Objects, now: () => Date) {
    this.#crd = crd;
    this.#managed = managed;
    this.#objects = objects;
    this.#now = now;
  }

  /** As the API server last answered. */
  get managed(): Managed {
    return this.#managed;
  }

  /** Finalizers of others. */
  get otherFinalizers(): readonly string[] {
    return (this.#managed.metadata.finalizers ?? []).filter((name) => name !== FINALIZER);
  }

  async patch(patch: object): Promise<void> {
    this.#managed = await this.#objects.patch(this.#crd, this.#managed, patch);
  }

  /** A patch that fails when the object has changed meanwhile. */
  async patchUnchanged(patch: { metadata?: object; spec?: object }): Promise<void> {
    const { resourceVersion } = this.#managed.metadata;
    await this.patch({ ...patch, metadata: { ...patch.metadata, resourceVersion } });
  }

  async addFinalizer(): Promise<void> {
    const { finalizers = [] } = this.#managed.metadata;
    if (!finalizers.includes(FINALIZER))
      await this.patchUnchanged({ metadata: { finalizers: [...finalizers, FINALIZER] } });
  }

  async removeFinalizer(): Promise<void> {
    const { finalizers = [] } = this.#managed.metadata;
    if (finalizers.includes(FINALIZER)) await this.patchUnchanged({ metadata: { finalizers: this.otherFinalizers } });
  }

  /** Records the name of a resource that exists already. */
  async named(externalName: string): Promise<void> {
    await this.patchUnchanged({ metadata: { annotations: { [annotationKeys.externalName]: externalName } } });
  }

  /**
   * A creation begins, and goes on by itself: its result is not waited for. Fails when the object has changed meanwhile: nothing is made
   * from an old specification.
   */
  async creationBegins(): Promise<void> {
    const time = this.#time();
    const annotations = { [annotationKeys.createPending]: time, [annotationKeys.createSucceeded]: time };
    await this.patchUnchanged({ metadata: { annotations } });
  }

  /** AWS gave the resource its name, or a change gave it another one. It must not be lost, so no change by others keeps it from being written. */
  async created(externalName: string): Promise<void> {
    await this.patch({ metadata: { annotations: { [annotationKeys.externalName]: externalName } } });
  }

  /** Writes conditions, and what was observed; nothing when they are there already. */
  async mark(changes: readonly Change[], atProvider?: Properties): Promise<void> {
    const before = this.#managed.status ?? {};
    const status = {
      ...before,
      conditions: withConditions(this.#managed, changes, this.#now),
      ...(atProvider && { atProvider }),
    };
    if (JSON.stringify(status) === JSON.stringify(before)) return;
    this.#managed = await this.#objects.putStatus(this.#crd, { ...this.#managed, status });
  }

  /**
   * Reports a failure in the condition Synced and, if it is new, in an event.
   * @param reason of the event; without it there is none
   */
  async fail(
    reason: string | undefined,
    message: string,
    changes: readonly Change[],
    atProvider?: Properties,
  ): Promise<void> {
    const before = this.#managed.status?.conditions?.find(({ type }) => type === "Synced")?.message;
    await this.mark([...changes, conditionOf.error(message)], atProvider);
    if (reason !== undefined && before !== message) await this.tell("Warning", reason, message);
  }

  tell(type: "Normal" | "Warning", reason: string, message: string): Promise<void> {
    return this.#objects.event(this.#managed, type, reason, message);
  }

  /** To the second, as crossplane-runtime notes it: what ends within the second in which it began has ended. */
  #time(): string {
    return this.#now().toISOString().replace(/\.\d+/, "");
  }
}
