import { z } from "zod";
import { group } from "../../lib/labels.ts";
import { isPlatformNamespace } from "../../lib/names.ts";
import { releaseForm } from "../../lib/node-releases.ts";
import { type AmiType, type AnyEksAddon, amiTypes, anyEksAddons } from "./api.ts";

const minor = z.string().regex(/^1\.\d{2}$/);
/** A release of the EKS optimized AMIs of a type. */
function nodeRelease(amiType: AmiType) {
  const { form, example } = releaseForm(amiType);
  return z.string().regex(form, `must be a release such as ${example}`).optional();
}
const versions = z.strictObject({
  ...(Object.fromEntries(anyEksAddons.map((addon) => [addon, z.string().optional()])) as Record<
    AnyEksAddon,
    z.ZodOptional<z.ZodString>
  >),
  /** Release of the nodes by AMI type. */
  nodes: z
    .strictObject(
      Object.fromEntries(amiTypes.map((amiType) => [amiType, nodeRelease(amiType)])) as Record<
        AmiType,
        ReturnType<typeof nodeRelease>
      >,
    )
    .optional(),
});

const stage = z.strictObject({
  /** GitRepository in Flux's namespace from which the hub takes the chain of this environment. */
  gitRepository: z.string().optional(),
  gitopsSystemRevision: z.string().optional(),
  gitopsWorkloadsRevision: z.string().optional(),
});

const texts = z.union([z.string(), z.array(z.string()).min(1)]).transform((value) => [value].flat());

/** A statement of a role's policy: what it allows. What it denies its boundary would have to say. */
const statement = z.strictObject({
  Sid: z.string().exactOptional(),
  Effect: z.literal("Allow"),
  Action: texts,
  Resource: texts,
  Condition: z.record(z.string(), z.record(z.string(), z.union([z.string(), z.array(z.string())]))).exactOptional(),
});

const addon = z.strictObject({
  /** The only service account that may assume the role. */
  namespace: z.string().min(1),
  serviceAccount: z.string().min(1),
  policy: z.array(statement).min(1),
  /** Whether it creates volumes, so that its role may use a company's keys (`volumeKeys` of the stack) too. */
  volumes: z.boolean().default(false),
});

/** An empty map in Git; the API server keeps null when Flux removes the last entry. */
const entries = <Value extends z.ZodType>(key: z.ZodString, value: Value) =>
  z
    .record(key, value)
    .nullish()
    .transform((found) => found ?? {});

/** What Argo CD may do on spokes, where the stack gives it a role for them (`argocdSpokes`). */
const argocd = z.strictObject({
  /** The namespaces in which it has EKS's edit policy. */
  namespaces: z
    .array(
      z
        .string()
        .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be the name of a namespace")
        .refine((name) => !isPlatformNamespace(name), "is a namespace of the platform, in which Argo CD has no rights"),
    )
    .min(1)
    .transform((names) => [...new Set(names)].sort()),
});

const schema = z.strictObject({
  apiVersion: z.literal(`${group}/v1alpha1`),
  kind: z.literal("SpokeSettings"),
  /**
   * How Flux on the hub reaches a spoke: `configMap`, as an IAM role with an access entry and no stored credential, or `secret`,
   * with a kubeconfig whose token the AWS provider renews.
   */
  kubeConfig: z.enum(["configMap", "secret"]),
  /**
   * Supported Kubernetes minors, each with the versions of its EKS add-ons and the release of its nodes; an add-on without one gets
   * EKS's default once, nodes without one the newest release once.
   */
  kubernetesVersions: z.record(minor, versions),
  /** Environments that follow other Git revisions than the hub. */
  stages: entries(z.string(), stage),
  /** What add-ons need in AWS, by their names in snake_case; an add-on that is not here gets no role. */
  addons: entries(z.string().regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/), addon),
  /**
   * How pods of a spoke get the roles of its controllers and add-ons: `irsa` by the spoke's OIDC provider in IAM, `pod-identity` by
   * associations of EKS Pod Identity (pod-identity.ts says which roles stay with IRSA).
   */
  workloadIdentity: z.enum(["irsa", "pod-identity"]).default("irsa"),
  /** Without it Argo CD has nothing to do with spokes. */
  argocd: argocd.nullish().transform((found) => found ?? undefined),
});

/** The input of the Composition's pipeline step: what the platform team decides for all spokes. */
export type Settings = z.infer<typeof schema>;

/** @throws RangeError that lists every problem in the Composition's input. */
export function readSettings(input: unknown): Settings {
  const read = schema.safeParse(input);
  if (read.success) return read.data;
  const problems = read.error.issues.map(({ path, message }) => `${path.join(".") || "input"}: ${message}`);
  throw new RangeError(`the Composition's input for function-spoke is wrong: ${problems.join("; ")}`);
}
