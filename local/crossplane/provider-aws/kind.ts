import type { Handler, Properties } from "../../aws/handler.ts";
import type { Fields } from "./fields.ts";

/** What an id can be derived from, besides the inputs. */
export interface Account {
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
      /** Default: the value of the input. */
      readonly id?: (value: string, inputs: Properties, account: Account) => string;
    }
  /** The id follows from the inputs, and the annotation is set to it. */
  | { readonly kind: "derived"; readonly id: (inputs: Properties) => string };

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
  /** Resource type in `ec2:DescribeTags`: how a resource is found again whose creation was interrupted. */
  readonly tagResourceType?: string;
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
