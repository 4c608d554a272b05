/** One pass over one object: the course of ACK's reconciler (aws-controllers-k8s/runtime v0.62.0, pkg/runtime/reconciler.go). */
import { withCallSettings } from "../aws/call-settings.ts";
import type { Aws } from "../aws/connection.ts";
import { differenceOf } from "../aws/difference.ts";
import { hasCode } from "../aws/errors.ts";
import { IncompleteError } from "../aws/handler.ts";
import { changeOf } from "../aws/lifecycle.ts";
import { GaveUpWaiting } from "../aws/poll.ts";
import type { Properties, Tags } from "../aws/properties.ts";
import { tagChanges } from "../aws/tags.ts";
import { ApiError } from "../crossplane/provider-aws/cluster/client.ts";
import type { Next } from "../work-queue.ts";
import type { Cluster } from "./cluster.ts";
import * as conditions from "./conditions.ts";
import { Halt, terminal } from "./halt.ts";
import type { Kind } from "./kinds/kind.ts";
import { ManagedByAck } from "./managed.ts";
import { type AckObject, isAdopted, isDeleted } from "./object.ts";
import { deletionPolicyOf, expectOwnPlace, wantsAdoption } from "./policies.ts";
import type { Settings } from "./settings.ts";
import { controllerTags } from "./tags.ts";

export interface World {
  readonly cluster: Cluster;
  readonly aws: Aws;
  readonly settings: Settings;
  /** The controller's version, as tags name it. */
  readonly version: string;
  readonly now: () => Date;
}

interface Found {
  readonly id: string;
  readonly actual: Properties;
}

const SECOND = 1000;

/** `table in 'UPDATING' state, …`: hooks.go of the controller for DynamoDB. */
const busy = (state: "CREATING" | "UPDATING", seconds: number): Halt =>
  new Halt(`table in '${state}' state, cannot be modified or deleted`, { next: seconds * SECOND });
const creating = () => busy("CREATING", 5);
const updating = () => busy("UPDATING", 10);

/** Whether AWS itself refused a call; a connection that failed says nothing of the resource. */
const isByAws = (error: unknown): boolean => error instanceof Error && "$fault" in error;

/** An error in the words of AWS: its code and message. */
const messageOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error);
  return isByAws(error) ? `${error.name}: ${error.message}` : error.message;
};

export class Pass {
  readonly #kind: Kind;
  readonly #world: World;
  readonly #object: ManagedByAck;

  constructor(kind: Kind, object: AckObject, world: World) {
    this.#kind = kind;
    this.#world = world;
    this.#object = new ManagedByAck(kind, object, world);
  }

  /** Waits of the AWS definitions end at once: what takes AWS a while is looked at again later, as upstream does. */
  async run(): Promise<Next> {
    try {
      return await withCallSettings({ timeout: 0 }, () => this.#run());
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) return "again";
      throw error;
    }
  }

  async #run(): Promise<Next> {
    const isLeaving = isDeleted(this.#object.now);
    try {
      return isLeaving ? await this.#remove() : await this.#sync();
    } catch (error) {
      if (error instanceof ApiError) throw error;
      return this.#failed(error, isLeaving);
    }
  }

  /** Says in the conditions what went wrong. Those of an object that is being removed keep what else they said. */
  async #failed(error: unknown, isLeaving: boolean): Promise<Next> {
    const how: Halt["how"] = error instanceof Halt ? error.how : {};
    const message = messageOf(error);
    if (how.isSilent) return how.next ?? "retry";
    const isTerminal = how.isTerminal ?? hasCode(error, ...this.#kind.terminalCodes);
    if (isLeaving)
      await this.#object.say(
        [isTerminal ? conditions.terminalCondition(message, how.reason) : conditions.recoverableCondition(message)],
        { isAdded: true },
      );
    else
      await this.#object.say(
        isTerminal ? conditions.ended(message, how.reason) : conditions.unknown(message, how.isExpected),
      );
    return isTerminal ? "wait" : (how.next ?? "retry");
  }

  async #sync(): Promise<Next> {
    const { cluster, settings, aws, version } = this.#world;
    const object = this.#object.now;
    expectOwnPlace(object, await cluster.annotationsOf(object.metadata.namespace), aws.region);
    const adopts = settings.mayAdopt && wantsAdoption(object) && !this.#object.isManaged;
    const own = controllerTags(settings.resourceTags, object, settings.service, version);
    const inputs = {
      ...this.#kind.inputsOf(object.spec),
      tagsAll: { ...own, ...this.#kind.tagsOf(object.spec) },
    };
    const found = await this.#read();
    if (found === undefined) await this.#create(inputs);
    else if (!this.#object.isManaged) await this.#takeOver(adopts, found);
    else await this.#update(found, inputs);
    return this.#initialize(found ?? (await this.#readNew()));
  }

  /** What AWS has of it. @throws {Halt} while AWS works on it */
  async #read(): Promise<Found | undefined> {
    const { aws } = this.#world;
    const { handler } = this.#kind;
    const id = this.#kind.idOf(this.#object.now);
    const actual = id === undefined ? null : await handler.read(aws, id, {});
    if (id === undefined || !actual) return undefined;
    const isNew = this.#object.now.status?.tableStatus === "CREATING";
    this.#object.seen(id, actual, isNew ? "CREATING" : "UPDATING");
    await this.#settled(() => handler.ready?.(aws, id), isNew ? creating : updating);
    this.#object.seen(id, actual, "ACTIVE");
    return { id, actual };
  }

  async #readNew(): Promise<Found> {
    const found = await this.#read();
    if (found === undefined) throw new Error("ReadOne call failed after a Create operation: number of attempts: 1");
    return found;
  }

  async #settled(call: () => Promise<unknown> | undefined, meanwhile: () => Halt): Promise<void> {
    try {
      await call();
    } catch (error) {
      throw error instanceof GaveUpWaiting ? meanwhile() : error;
    }
  }

  /** One that somebody else made is left alone, unless the object asks for it. */
  async #takeOver(adopts: boolean, { actual, id }: Found): Promise<void> {
    if (!adopts) throw terminal(conditions.NOT_MANAGED.message, conditions.NOT_MANAGED.reason);
    await this.#object.adopt();
    this.#object.seen(id, actual, "ACTIVE");
    throw new Halt("adopted resource, requeuing to check for updates", { next: "again", isExpected: true });
  }

  async #create(inputs: Properties): Promise<void> {
    if (isAdopted(this.#object.now)) throw new Halt("adopted resource not found", { isSilent: true });
    await this.#object.manage();
    try {
      this.#object.made(await this.#kind.handler.create(this.#world.aws, inputs));
    } catch (error) {
      if (error instanceof IncompleteError) {
        this.#object.made(error.id);
        throw error.cause instanceof GaveUpWaiting ? creating() : error.cause;
      }
      // What was not made is not managed, and its object may go.
      if (isByAws(error)) await this.#object.letGo();
      throw error;
    }
  }

  async #update({ id, actual }: Found, inputs: Properties): Promise<void> {
    const { handler, settles } = this.#kind;
    const { tagsAll, ...own } = inputs;
    const { changed, before, after } = differenceOf(handler, this.#kind.compared(own, actual), own, actual);
    this.#kind.expectChangeable?.(changed);
    // Of tags all count: those that somebody added go.
    const [old, wanted] = [actual["tagsAll"] as Tags, tagsAll as Tags];
    const tags = tagChanges(old, wanted);
    if (changed.length > 0 || tags.remove.length > 0 || Object.keys(tags.set).length > 0) {
      const change = changeOf(handler, { ...before, tagsAll: old }, { ...after, tagsAll: wanted });
      await this.#settled(() => handler.update?.(this.#world.aws, id, change), updating);
    }
    if ((settles && changed.length > 0) || this.#kind.staysBusy?.(own, actual)) throw updating();
  }

  /** Writes into the specification what AWS filled in, and says that all is as it is wanted. */
  async #initialize({ actual }: Found): Promise<Next> {
    const { late } = this.#kind;
    if (!late) {
      await this.#object.say(conditions.inSync);
      return this.#world.settings.resyncMs;
    }
    const { spec } = this.#object.now;
    const given = Object.entries(late.of(actual)).filter(([name]) => spec[name] === undefined);
    if (given.length > 0) await this.#object.fill(Object.fromEntries(given));
    const isComplete = late.required.every((name) => this.#object.now.spec[name] !== undefined);
    if (isComplete) await this.#object.say([...conditions.inSync, conditions.lateInitialized]);
    else await this.#object.say([...conditions.outOfSync, conditions.delayedInitialization]);
    return isComplete ? this.#world.settings.resyncMs : 5 * SECOND;
  }

  async #remove(): Promise<Next> {
    if (!this.#object.isManaged) return "wait";
    const { cluster, aws, settings } = this.#world;
    const object = this.#object.now;
    const ofNamespace = await cluster.annotationsOf(object.metadata.namespace);
    if (deletionPolicyOf(object, ofNamespace, settings) === "delete") {
      const found = await this.#read();
      // It goes once AWS has taken the call.
      if (found) await this.#gone(() => this.#kind.handler.delete(aws, found.id, found.actual));
    }
    await this.#object.letGo();
    return "wait";
  }

  async #gone(call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      if (!(error instanceof GaveUpWaiting)) throw error;
    }
  }
}
