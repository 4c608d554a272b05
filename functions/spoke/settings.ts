import { z } from "zod";
import { group } from "../../lib/labels.ts";
import { eksAddons } from "./api.ts";

const minor = z.string().regex(/^1\.\d{2}$/);
const addonVersions = z.partialRecord(z.enum(eksAddons), z.string());

const stage = z.strictObject({
  /** GitRepository in Flux's namespace from which the hub takes the chain of this environment. */
  gitRepository: z.string().optional(),
  gitopsSystemRevision: z.string().optional(),
  gitopsWorkloadsRevision: z.string().optional(),
});

const schema = z.strictObject({
  apiVersion: z.literal(`${group}/v1alpha1`),
  kind: z.literal("SpokeSettings"),
  /**
   * How Flux on the hub reaches a spoke: `configMap`, as an IAM role with an access entry and no stored credential, or `secret`,
   * with a kubeconfig whose token the AWS provider renews.
   */
  kubeConfig: z.enum(["configMap", "secret"]),
  /** Supported Kubernetes minors, each with the versions of its EKS add-ons; an add-on without one gets EKS's default once. */
  kubernetesVersions: z.record(minor, addonVersions),
  /** Environments that follow other Git revisions than the hub. The API server keeps null when Flux takes the last one away. */
  stages: z
    .record(z.string(), stage)
    .nullish()
    .transform((stages) => stages ?? {}),
});

/** The input of the Composition's pipeline step: what the platform team decides for all spokes. */
export type Settings = z.infer<typeof schema>;

/** @throws RangeError that lists every mistake in the Composition's input. */
export function readSettings(input: unknown): Settings {
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  const mistakes = read.error.issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`);
  throw new RangeError(`the Composition's input for function-spoke is wrong: ${mistakes.join("; ")}`);
}
