/** An object in the API server during one pass over it: every write goes through here and gives the newest version. */
import { isDeepStrictEqual } from "node:util";
import type { Aws } from "../aws/connection.ts";
import type { Properties } from "../aws/properties.ts";
import type { Cluster } from "./cluster.ts";
import { type Change, dated } from "./conditions.ts";
import { finalizerOf, type Kind } from "./kinds/kind.ts";
import { type AckObject, PREFIX } from "./object.ts";

type Status = NonNullable<AckObject["status"]>;

export class ManagedByAck {
  readonly #kind: Kind;
  readonly #world: { readonly cluster: Cluster; readonly aws: Aws; readonly now: () => Date };
  #object: AckObject;
  /** What this pass has learnt of the resource. */
  #seen: Status = {};
  #arn: string | undefined;

  constructor(kind: Kind, object: AckObject, world: { cluster: Cluster; aws: Aws; now: () => Date }) {
    this.#kind = kind;
    this.#object = object;
    this.#world = world;
    this.#arn = object.status?.ackResourceMetadata?.["arn"];
  }

  /** As the API server last answered, with what this pass has learnt. */
  get now(): AckObject {
    return { ...this.#object, status: { ...this.#object.status, ...this.#seen } };
  }

  get #finalizers(): readonly string[] {
    return this.#object.metadata.finalizers ?? [];
  }

  /** Whether the controller has made it its own, by its finalizer. */
  get isManaged(): boolean {
    return this.#finalizers.includes(finalizerOf(this.#kind));
  }

  /** @param state of a table, as AWS calls it */
  seen(id: string, actual: Properties, state: string): void {
    this.#arn = actual["arn"] as string | undefined;
    this.#seen = { ...this.#kind.statusOf(id, state) };
  }

  /** AWS has begun to make it. */
  made(id: string): void {
    this.#seen = { ...this.#kind.statusOf(id, "CREATING") };
  }

  async manage(): Promise<void> {
    if (!this.isManaged)
      await this.#patch({ metadata: { finalizers: [...this.#finalizers, finalizerOf(this.#kind)] } });
  }

  async adopt(): Promise<void> {
    const finalizers = [...this.#finalizers, finalizerOf(this.#kind)];
    await this.#patch({ metadata: { finalizers, annotations: { [`${PREFIX}adopted`]: "true" } } });
  }

  async letGo(): Promise<void> {
    const own = finalizerOf(this.#kind);
    if (this.isManaged)
      await this.#patch({ metadata: { finalizers: this.#finalizers.filter((finalizer) => finalizer !== own) } });
  }

  /** Writes fields into the specification. */
  fill(spec: Properties): Promise<void> {
    return this.#patch({ spec });
  }

  async #patch(body: { readonly metadata?: object; readonly spec?: object }): Promise<void> {
    this.#object = await this.#world.cluster.patch(this.#kind, this.#object, body);
  }

  /** Writes the status, unless it says so already. @param isAdded the other conditions stay */
  async say(changes: readonly Change[], { isAdded = false } = {}): Promise<void> {
    const { aws, cluster, now } = this.#world;
    const before = this.#object.status ?? {};
    const said = before.conditions ?? [];
    const conditions = dated(changes, said, now());
    const others = isAdded ? said.filter(({ type }) => !changes.some((change) => change.type === type)) : [];
    const status: Status = {
      ...before,
      ...this.#seen,
      ackResourceMetadata: {
        ...before.ackResourceMetadata,
        ...(this.#arn !== undefined && { arn: this.#arn }),
        ...{ ownerAccountID: await aws.accountId(), partition: aws.partition, region: aws.region },
      },
      conditions: [...others, ...conditions],
    };
    if (isDeepStrictEqual(status, before)) return;
    this.#object = await cluster.patchStatus(this.#kind, this.#object, status);
  }
}
