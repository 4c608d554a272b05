import type { Aws } from "../../aws/connection.ts";
import type { Handler, Properties } from "../../aws/handler.ts";
import type { Fields } from "./fields.ts";
import type { Metadata } from "./managed.ts";

/** What an id can be derived from, besides the inputs. */
interface Account {
  readonly accountId: string;
  readonly partition: string;
}

/** How the annotation `crossplane.io/external-name` and the handler's id belong together (upstream: config/externalname.go). */
export type ExternalName =
  /** AWS gives the id, and the annotation holds it. */
  | { readonly kind: "assigned" }
  /** The annotation is the resource's name, at first the object's own; the handler takes it as its input `input`. */
  | {
      readonly kind: "name";
      readonly input: string;
      /** The value of the input; default: the external name itself. */
      readonly value?: (externalName: string) => string;
      /** Default: the value of the input. Undefined: inputs that it needs are missing. */
      readonly id?: (inputs: Properties, account: Account) => string | undefined;
    }
  /** The id follows from the inputs, and the annotation is set to it. Undefined: some are missing. */
  | { readonly kind: "derived"; readonly id: (inputs: Properties) => string | undefined };

/** One kind of managed resource: its names in Kubernetes, the handler that serves it, and its shape. */
export interface Kind {
  /** Short name of the API group: `ec2` for `ec2.aws.m.upbound.io`. */
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly handler: Handler;
  readonly externalName: ExternalName;
  /** Fields of `spec.forProvider` besides `region` and `tags`. */
  readonly spec: Fields;
  /** Fields of `status.atProvider` besides those of the spec, `id`, `region`, `tags` and `tagsAll`. */
  readonly status: Fields;
  /** Defaults where those of the handler are not Terraform's. */
  readonly defaults?: Properties;
  /** Input that Terraform fills with a unique name when it is not set. */
  readonly generatedName?: string;
  /** What upstream publishes in the connection Secret. */
  readonly connection?: (actual: Properties) => Readonly<Record<string, string>>;
  /**
   * Finds a resource whose creation was interrupted before its id was recorded. Without it, only ids that are known beforehand
   * can be found again, and Crossplane's rule holds: the object waits for a person.
   */
  readonly recover?: (aws: Aws, inputs: Properties, metadata: Metadata) => Promise<string | undefined>;
  /** Upstream wrote it by hand: it has no `initProvider`, and `atProvider` has the fields of `status` alone. */
  readonly bare?: true;
  /** How often it is looked at, in milliseconds, where that does not follow the program's flag. */
  readonly pollMs?: (forProvider: Properties) => number;
  /** Long operations, whose failures upstream reports in the condition `LastAsyncOperation` too. */
  readonly asynchronous?: true;
}

export const API_SUFFIX = "aws.m.upbound.io";
export const VERSION = "v1beta1";

export const apiGroup = (group: string): string => `${group}.${API_SUFFIX}`;
export const apiVersion = ({ group }: Pick<Kind, "group">): string => `${apiGroup(group)}/${VERSION}`;

/** `vpcs.ec2.aws.m.upbound.io`: the CRD's name. */
export const crdName = ({ group, plural }: Pick<Kind, "group" | "plural">): string => `${plural}.${apiGroup(group)}`;

export const assigned: ExternalName = { kind: "assigned" };
export const named = (input: string): ExternalName => ({ kind: "name", input });

/** An id of inputs with a separator between them. */
export const joined =
  (separator: string, ...names: string[]) =>
  (inputs: Properties): string | undefined => {
    const parts = names.map((name) => inputs[name]);
    return parts.some((part) => part === undefined) ? undefined : parts.join(separator);
  };
