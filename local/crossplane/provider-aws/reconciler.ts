/** Brings one managed resource and its resource in AWS together: the course of crossplane-runtime's managed reconciler. */
import { withCallSettings } from "../../aws/call-settings.ts";
import type { Connections } from "./credentials.ts";
import { type External, externalOf, type Observation } from "./external.ts";
import { crdName, type Kind } from "./kind.ts";
import { ConflictError, type Objects } from "./kube.ts";
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
import { initialize } from "./preparation.ts";

export interface ReconcilerOptions {
  readonly objects: Objects;
  readonly connections: Connections;
  readonly now: () => Date;
  /** Aborted when the program ends: waits end early, and what they fail with is nobody's error. */
  readonly signal: AbortSignal;
}

/** When to look at the object again: at the next poll, at once, after a pause that grows, or only when it changes. */
export type Outcome = "poll" | "again" | "retry" | "wait";

/** One pass over one object. */
export class Reconciliation {
  readonly #kind: Kind;
  readonly #options: ReconcilerOptions;
  readonly #object: ManagedObject;

  constructor(kind: Kind, managed: Managed, options: ReconcilerOptions) {
    this.#kind = kind;
    this.#object = new ManagedObject(crdName(kind), managed, options.objects, options.now);
    this.#options = options;
  }

  get #managed(): Managed {
    return this.#object.managed;
  }

  async run(): Promise<Outcome> {
    try {
      return await withCallSettings({ signal: this.#options.signal }, () => this.#run());
    } catch (error) {
      if (error instanceof ConflictError) return "again";
      throw error;
    }
  }

  async #run(): Promise<Outcome> {
    if (isPaused(this.#managed)) {
      await this.#object.mark([conditionOf.paused]);
      return "wait";
    }
    const mistake = policyMistake(this.#managed);
    if (mistake) return this.#failed("CannotUseInvalidManagementPolicy", mistake, { outcome: "wait" });
    if (isDeleted(this.#managed) && !allows(this.#managed, "Delete")) {
      await this.#object.removeFinalizer();
      return "wait";
    }
    let external: External;
    await initialize(this.#object, this.#kind);
    try {
      external = await this.#connect();
      if (await this.#recovered(external)) return "again";
    } catch (error) {
      if (error instanceof ConflictError) throw error;
      return this.#failed("CannotConnectToProvider", `connect failed: ${messageOf(error)}`);
    }
    return this.#observe(external, (observed) => {
      if (isDeleted(this.#managed)) return this.#delete(external, observed);
      return observed ? this.#maintain(external, observed) : this.#create(external);
    });
  }

  /** Goes on with what AWS has at this moment; undefined when it has nothing. */
  async #observe(external: External, next: (observed: Observation | undefined) => Promise<Outcome>): Promise<Outcome> {
    let observed: Observation | undefined;
    try {
      observed = await external.observe();
    } catch (error) {
      return this.#failed("CannotObserveExternalResource", `observe failed: ${messageOf(error)}`);
    }
    return next(observed);
  }

  async #connect(): Promise<External> {
    const { objects, connections } = this.#options;
    await objects.trackUsage(this.#managed);
    const aws = await connections.connect(this.#managed);
    return externalOf(this.#kind, this.#managed, aws);
  }

  /** Takes up a creation that an earlier run of the controller began and could not record. True: it had made something. */
  async #recovered(external: External): Promise<boolean> {
    if (!creationIsIncomplete(this.#managed)) return false;
    if (!external.repeatable && externalName(this.#managed) === undefined)
      throw new Error(
        `cannot determine creation result - remove the ${annotationKeys.createPending} annotation if it is safe to proceed`,
      );
    const found = await external.recover();
    if (found !== undefined) await this.#object.creationSucceeded(found);
    return found !== undefined;
  }

  async #create(external: External): Promise<Outcome> {
    if (!allows(this.#managed, "Create"))
      return this.#failed("CannotObserveExternalResource", "observe failed: external resource does not exist");
    await this.#object.addFinalizer();
    await this.#object.creationBegins();
    await this.#object.mark([conditionOf.creating]);
    let recorded = "";
    try {
      await external.create(async (name) => {
        if (name === recorded) return;
        await this.#object.creationSucceeded(name);
        recorded = name;
        await this.#accepted();
      });
    } catch (error) {
      if (recorded === "") await this.#object.creationFailed();
      return this.#failed("CannotCreateExternalResource", `create failed: ${messageOf(error)}`, {
        conditions: [conditionOf.creating],
        operation: "AsyncCreateFailure",
      });
    }
    await this.#object.tell(
      "Normal",
      "CreatedExternalResource",
      "Successfully requested creation of external resource",
    );
    await this.#object.mark([conditionOf.creating, conditionOf.success, ...this.#lastOperation()]);
    return "again";
  }

  /** AWS has accepted the creation: an error of an earlier attempt is over, while it may take minutes until the resource is usable. */
  async #accepted(): Promise<void> {
    try {
      await this.#object.mark([conditionOf.creating, conditionOf.success]);
    } catch (error) {
      // Somebody changed the object: no reason to break off the creation, at whose end it is written anyway.
      if (!(error instanceof ConflictError)) throw error;
    }
  }

  /** An existing resource: usable, up to date, with its connection details published. */
  async #maintain(external: External, observed: Observation): Promise<Outcome> {
    await this.#object.addFinalizer();
    // It was there before the object was: from now on the object names it.
    if (externalName(this.#managed) === undefined) await this.#object.named(observed.id);
    if (observed.failed !== undefined) return this.#replace(external, observed);
    const secret = this.#managed.spec.writeConnectionSecretToRef?.name;
    if (secret !== undefined) await this.#options.objects.writeSecret(this.#managed, secret, observed.connection);
    if (!this.#object.wasReady) {
      await this.#object.mark([conditionOf.creating], observed.atProvider);
      try {
        await external.ready(observed.id);
      } catch (error) {
        return this.#failed("CannotCreateExternalResource", `create failed: ${messageOf(error)}`, {
          conditions: [conditionOf.creating],
          operation: "AsyncCreateFailure",
        });
      }
      // What it had while it was being made is out of date.
      if (this.#kind.handler.ready !== undefined)
        return this.#observe(external, async (usable) => (usable ? this.#update(external, usable) : "again"));
    }
    return this.#update(external, observed);
  }

  /** AWS gave up making it. When its specification was corrected it is made anew; until then it stays to be looked at. */
  async #replace(external: External, observed: Observation): Promise<Outcome> {
    if (observed.difference.changed.length === 0) {
      const reason = await external.ready(observed.id).then(() => observed.failed, messageOf);
      const message = `${reason}; correct its specification, and it is created again`;
      return this.#failed("CannotCreateExternalResource", `create failed: ${message}`, {
        conditions: [conditionOf.unavailable(message)],
        operation: "AsyncCreateFailure",
        observed,
      });
    }
    try {
      await external.delete();
    } catch (error) {
      return this.#failed("CannotDeleteExternalResource", `delete failed: ${messageOf(error)}`, { observed });
    }
    return "again";
  }

  async #update(external: External, observed: Observation): Promise<Outcome> {
    const { changed, immutable } = observed.difference;
    if (changed.length === 0 || !allows(this.#managed, "Update")) {
      const conditions = [conditionOf.available, conditionOf.success, ...this.#lastOperation()];
      await this.#object.mark(conditions, observed.atProvider);
      return "poll";
    }
    try {
      if (immutable.length > 0)
        throw new Error(
          "refuse to update the external resource because the following update requires replacing it: " +
            `${immutable.join(", ")} can't be changed on an existing resource`,
        );
      await external.update(observed, (name) => this.#object.creationSucceeded(name));
    } catch (error) {
      return this.#failed("CannotUpdateExternalResource", `update failed: ${messageOf(error)}`, {
        conditions: [conditionOf.available],
        operation: "AsyncUpdateFailure",
        observed,
        outcome: immutable.length > 0 ? "poll" : "retry",
      });
    }
    await this.#object.tell("Normal", "UpdatedExternalResource", "Successfully requested update of external resource");
    await this.#object.mark([conditionOf.success, ...this.#lastOperation()]);
    return "again";
  }

  async #delete(external: External, observed: Observation | undefined): Promise<Outcome> {
    // What is being deleted already counts as gone when it is observed: its end is waited for all the same.
    const mayLinger = this.#kind.handler.ready !== undefined && externalName(this.#managed) !== undefined;
    if (observed || mayLinger) {
      await this.#object.mark([conditionOf.deleting], observed?.atProvider);
      // Other controllers still want it.
      if (this.#object.otherFinalizers.length > 0) return "wait";
      try {
        await external.delete();
      } catch (error) {
        return this.#failed("CannotDeleteExternalResource", `delete failed: ${messageOf(error)}`, {
          conditions: [conditionOf.deleting],
          operation: "AsyncDeleteFailure",
        });
      }
      await this.#object.tell(
        "Normal",
        "DeletedExternalResource",
        "Successfully requested deletion of external resource",
      );
    }
    await this.#object.removeFinalizer();
    return "wait";
  }

  /** Upjet's extra condition of long operations. */
  #lastOperation(reason?: string, message = ""): Change[] {
    if (!this.#kind.asynchronous) return [];
    return [conditionOf.lastOperation(reason ? { reason, message } : undefined)];
  }

  async #failed(reason: string, message: string, details: FailureDetails = {}): Promise<Outcome> {
    if (this.#options.signal.aborted) return "wait";
    const { conditions = [], operation, observed, outcome = "retry" } = details;
    const changes = [...conditions, ...(operation ? this.#lastOperation(operation, message) : [])];
    await this.#object.fail(reason, message, changes, observed?.atProvider);
    return outcome;
  }
}

interface FailureDetails {
  readonly conditions?: readonly Change[];
  /** Reason of the condition LastAsyncOperation. */
  readonly operation?: string;
  readonly observed?: Observation;
  /** Default: retry. */
  readonly outcome?: Outcome;
}

/** An error in the words of AWS: its code and message. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error.name === "IncompleteError" && error.cause instanceof Error ? error.cause : error;
  const plain = ["Error", "TypeError", "IncompleteError"];
  return plain.includes(inner.name) ? inner.message : `${inner.name}: ${inner.message}`;
}
