/** Brings one managed resource and its resource in AWS together: the course of crossplane-runtime's managed reconciler. */
import { withCallSettings } from "../../aws/call-settings.ts";
import { IncompleteError } from "../../aws/handler.ts";
import type { Properties } from "../../aws/properties.ts";
import type { Connections } from "./credentials.ts";
import { type External, externalOf, type Observation } from "./external.ts";
import { asyncReasons, attempt, Failure, messageOf, type Outcome, reasons } from "./failure.ts";
import { crdName, type Kind } from "./kind.ts";
import { ConflictError, type Objects } from "./kube.ts";
import { lateInitialized } from "./late-initialization.ts";
import {
  allows,
  annotationKeys,
  conditionOf,
  creationIsIncomplete,
  externalName,
  isDeleted,
  isPaused,
  type Managed,
  policyMistake,
} from "./managed.ts";
import { type Change, ManagedObject } from "./object.ts";
import { initialize, resolve } from "./preparation.ts";
import { secretInputs } from "./secrets.ts";

export interface ReconcilerOptions {
  readonly objects: Objects;
  readonly connections: Connections;
  readonly now: () => Date;
  /**
   * Secret inputs as they were last given to AWS, by the UID of the object. Like upjet's state they are lost with the program, which then
   * takes those that there are for them.
   */
  readonly secrets: Map<string, Properties>;
  /** Aborted when the program ends: waits end early, and their errors are not reported. */
  readonly signal: AbortSignal;
}

/** One pass over one object. */
export class Reconciliation {
  readonly #kind: Kind;
  readonly #options: ReconcilerOptions;
  readonly #object: ManagedObject;
  #secrets: Properties = {};

  constructor(kind: Kind, managed: Managed, options: ReconcilerOptions) {
    this.#kind = kind;
    this.#object = new ManagedObject(crdName(kind), managed, options.objects, options.now);
    this.#options = options;
  }

  get #managed(): Managed {
    return this.#object.managed;
  }

  async run(): Promise<Outcome> {
    const { signal } = this.#options;
    try {
      return await withCallSettings({ signal }, () => this.#run().catch((error: unknown) => this.#failed(error)));
    } catch (error) {
      if (error instanceof ConflictError) return "again";
      throw error;
    }
  }

  async #failed(error: unknown): Promise<Outcome> {
    if (!(error instanceof Failure)) throw error;
    if (this.#options.signal.aborted) return "wait";
    const { step, message } = error;
    const { conditions = [], observed, outcome = "retry", isEventless = false } = error.details;
    const text = `${step} failed: ${message}`;
    const changes = [...conditions, ...(asyncReasons[step] ? this.#lastOperation(asyncReasons[step], text) : [])];
    const reason = isEventless ? undefined : reasons[step];
    await this.#object.fail(reason, text, changes, observed?.atProvider);
    return outcome;
  }

  async #run(): Promise<Outcome> {
    if (isPaused(this.#managed)) {
      await this.#object.mark([conditionOf.paused]);
      return "wait";
    }
    const mistake = policyMistake(this.#managed);
    if (mistake) {
      await this.#object.fail("CannotUseInvalidManagementPolicy", mistake, []);
      return "wait";
    }
    if (isDeleted(this.#managed) && !allows(this.#managed, "Delete")) {
      await this.#object.removeFinalizer();
      return "wait";
    }
    await initialize(this.#object, this.#kind);
    if (creationIsIncomplete(this.#managed)) return this.#creationUnknown();
    await attempt("resolve", () => resolve(this.#object, this.#kind, this.#options.objects));
    const external = await attempt("connect", () => this.#connect());
    const observed = await attempt("observe", () => external.observe());
    if (isDeleted(this.#managed)) return this.#delete(external, observed);
    return observed ? this.#maintain(external, observed) : this.#create(external);
  }

  async #connect(): Promise<External> {
    const { objects, connections } = this.#options;
    await objects.trackUsage(this.#managed);
    this.#secrets = await secretInputs(objects, this.#kind, this.#managed);
    const aws = await connections.connect(this.#managed);
    const known = this.#options.secrets.get(this.#managed.metadata.uid);
    if (known === undefined) this.#given();
    return externalOf(this.#kind, this.#managed, aws, this.#secrets, known);
  }

  /** AWS has the secret inputs now. */
  #given(): void {
    if (Object.keys(this.#secrets).length > 0) this.#options.secrets.set(this.#managed.metadata.uid, this.#secrets);
  }

  /** Somebody has to say how a creation ended, for each kind: upjet tells Crossplane of none that its name is known beforehand. */
  async #creationUnknown(): Promise<Outcome> {
    const message = `cannot determine creation result - remove the ${annotationKeys.createPending} annotation if it is safe to proceed`;
    await this.#object.fail("CannotInitializeManagedResource", message, [conditionOf.creating]);
    return "wait";
  }

  async #create(external: External): Promise<Outcome> {
    if (!allows(this.#managed, "Create")) throw new Failure("observe", "external resource does not exist");
    await this.#object.addFinalizer();
    // Upjet creates every kind in the background, and keeps the ID in memory until then: a provider that is killed makes it once more.
    await this.#object.creationBegins();
    await this.#accepted();
    try {
      await external.create((name) => this.#created(name));
    } catch (error) {
      // Upjet observes what exists at once, and has written no event (pkg/controller/api.go, callbackFn; pkg/controller/handler/eventhandler.go).
      const existing = error instanceof IncompleteError ? ({ outcome: "again", isEventless: true } as const) : {};
      throw new Failure("create", messageOf(error), { conditions: [conditionOf.creating], ...existing });
    }
    await this.#tell("Created", "creation");
    await this.#object.mark([conditionOf.creating, conditionOf.success, ...this.#lastOperation()]);
    return "again";
  }

  /**
   * Without LateInitialize upstream writes no ID (crossplane-runtime, reconciler.go, ShouldLateInitialize). It keeps an ID that AWS assigns in
   * memory, which this program has none of. What is known when the program ends is lost with it.
   */
  async #created(name: string): Promise<void> {
    if (!this.#options.signal.aborted && this.#recordsName()) await this.#object.created(name);
  }

  #recordsName(): boolean {
    const isAssigned = externalName(this.#managed) === undefined && this.#kind.handler.idOf === undefined;
    return isAssigned || allows(this.#managed, "LateInitialize");
  }

  /** An error of an earlier attempt is over, while it may take minutes until the resource is usable. */
  async #accepted(): Promise<void> {
    try {
      await this.#object.mark([conditionOf.creating, conditionOf.success]);
    } catch (error) {
      // Somebody changed the object: no reason to break off the creation, at whose end it is written anyway.
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  /** An existing resource, whatever AWS says of it: upjet calls it Ready (pkg/controller/external_tfpluginsdk.go, Observe). */
  async #maintain(external: External, observed: Observation): Promise<Outcome> {
    await this.#object.addFinalizer();
    // The resource existed before the object: record its name.
    if (externalName(this.#managed) === undefined && this.#recordsName()) await this.#object.named(observed.id);
    const secret = this.#managed.spec.writeConnectionSecretToRef?.name;
    if (secret !== undefined) await this.#options.objects.writeSecret(this.#managed, secret, observed.connection);
    await this.#lateInitialize(observed);
    return this.#update(external, observed);
  }

  /** The difference was computed before, and is applied as it was (crossplane-runtime 2.3, reconciler.go, after ResourceLateInitialized). */
  async #lateInitialize({ parameters }: Observation): Promise<void> {
    if (this.#kind.bare || !allows(this.#managed, "LateInitialize")) return;
    const forProvider = lateInitialized(this.#kind, this.#managed.spec, parameters);
    if (forProvider) await this.#object.patchUnchanged({ spec: { forProvider } });
  }

  async #update(external: External, observed: Observation): Promise<Outcome> {
    const { changed, immutable } = observed.difference;
    if (changed.length === 0 || !allows(this.#managed, "Update")) {
      const conditions = [conditionOf.available, conditionOf.success, ...this.#lastOperation()];
      await this.#object.mark(conditions, observed.atProvider);
      return "poll";
    }
    const details = { conditions: [conditionOf.available], observed };
    if (immutable.length > 0)
      throw new Failure(
        "update",
        "refuse to update the external resource because the following update requires replacing it: " +
          `${immutable.join(", ")} can't be changed on an existing resource`,
        { ...details, outcome: "poll" },
      );
    const renamed = (name: string) => this.#object.created(name);
    await attempt("update", () => external.update(observed, renamed), details);
    this.#given();
    await this.#tell("Updated", "update");
    await this.#object.mark([conditionOf.success, ...this.#lastOperation()]);
    return "again";
  }

  async #delete(external: External, observed: Observation | undefined): Promise<Outcome> {
    // A resource that AWS is already deleting is observed as gone: wait for the end of the deletion anyway.
    const mayLinger = this.#kind.handler.ready !== undefined && externalName(this.#managed) !== undefined;
    if (observed || mayLinger) {
      await this.#object.mark([conditionOf.deleting], observed?.atProvider);
      // Other controllers still want it.
      if (this.#object.otherFinalizers.length > 0) return "wait";
      await attempt("delete", () => external.delete(), { conditions: [conditionOf.deleting] });
      await this.#tell("Deleted", "deletion");
    }
    await this.#object.removeFinalizer();
    return "wait";
  }

  #tell(done: string, what: string): Promise<void> {
    const message = `Successfully requested ${what} of external resource`;
    return this.#object.tell("Normal", `${done}ExternalResource`, message);
  }

  /** Upjet's extra condition of long operations. */
  #lastOperation(reason?: string, message = ""): Change[] {
    if (!this.#kind.asynchronous) return [];
    return [conditionOf.lastOperation(reason ? { reason, message } : undefined)];
  }
}
