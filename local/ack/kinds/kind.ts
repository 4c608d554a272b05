/** One kind of ACK over the AWS definition that serves it. */
import type { Handler } from "../../aws/handler.ts";
import type { Properties, Tags } from "../../aws/properties.ts";
import { type Definition, type Service, served } from "../definitions.ts";
import type { AckObject } from "../object.ts";

export interface Kind {
  readonly service: Service;
  readonly handler: Handler;
  /** Its ID in AWS; undefined while nobody knows it. */
  idOf(object: AckObject): string | undefined;
  /** The handler's inputs for a specification, without tags. @throws {Halt} for what AWS or the stand-in doesn't take */
  inputsOf(spec: Properties): Properties;
  tagsOf(spec: Properties): Tags;
  /** Names of the inputs that are compared with what AWS has. @throws where upstream's comparison ends in an error */
  compared(inputs: Properties, actual: Properties): readonly string[];
  /** @throws {Halt} where AWS takes no change of one of these inputs */
  expectChangeable?(changed: readonly string[]): void;
  /** Whether something differs of which upstream tells AWS nothing: the resource then counts as changing at every pass. */
  staysBusy?(inputs: Properties, actual: Properties): boolean;
  /** What the status says of it besides what every kind has. @param state of a table, as AWS calls it */
  statusOf(id: string, state: string): AckObject["status"];
  /** Fields that the specification lacks and AWS has filled in: they are written into it. */
  readonly late?: {
    /** Those that AWS must have; until it has, the resource counts as not in sync. */
    readonly required: readonly string[];
    of(actual: Properties): Properties;
  };
  /** AWS's error codes after which only another specification helps (upstream: terminalAWSError in sdk.go). */
  readonly terminalCodes: readonly string[];
  /** AWS takes a while for changes, but for those of tags. */
  readonly settles?: true;
}

export const definitionOf = ({ service }: Pick<Kind, "service">): Definition => served[service];

/** `tables.dynamodb.services.k8s.aws` as a path of the API server: of one namespace or of all, of one object or of all. */
export function pathOf(kind: Pick<Kind, "service">, namespace?: string, name?: string): string {
  const { group, names } = definitionOf(kind).spec;
  const scope = namespace === undefined ? "" : `/namespaces/${namespace}`;
  return `/apis/${group}/v1alpha1${scope}/${names.plural}${name === undefined ? "" : `/${name}`}`;
}

/** `finalizers.sqs.services.k8s.aws/Queue` (upstream: descriptor.go). */
export const finalizerOf = (kind: Pick<Kind, "service">): string => {
  const { group, names } = definitionOf(kind).spec;
  return `finalizers.${group}/${names.kind}`;
};

/** The handler with a token of Pulumi. */
export function handlerBy(handlers: readonly Handler[], token: string): Handler {
  const found = handlers.find((handler) => handler.token === token);
  if (found === undefined) throw new Error(`no AWS definition has the token ${token}`);
  return found;
}
