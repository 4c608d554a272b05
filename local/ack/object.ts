/** An object of ACK's kinds as the API server has it, and what its annotations mean (aws-controllers-k8s/runtime v0.62.0, apis/core/v1alpha1/annotations.go). */
import type { Properties } from "../aws/properties.ts";
import type { Metadata } from "../crossplane/provider-aws/managed.ts";

export interface Condition {
  readonly type: string;
  readonly status: "True" | "False" | "Unknown";
  readonly message?: string;
  readonly reason?: string;
  readonly lastTransitionTime: string;
}

export interface AckObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata;
  readonly spec: Properties;
  readonly status?: {
    readonly ackResourceMetadata?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
    readonly tableStatus?: string;
    readonly queueURL?: string;
  };
}

export const PREFIX = "services.k8s.aws/";

/** The value of one of ACK's annotations, by its name without ACK's prefix. */
export const annotation = ({ metadata }: Pick<AckObject, "metadata">, name: string): string | undefined =>
  metadata.annotations?.[PREFIX + name];

export const isDeleted = ({ metadata }: AckObject): boolean => metadata.deletionTimestamp !== undefined;

/** Whether its resource was there before it, and was taken over. */
export const isAdopted = (object: AckObject): boolean => annotation(object, "adopted")?.toLowerCase() === "true";
