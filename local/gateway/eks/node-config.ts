import { parse } from "yaml";
import * as z from "zod";
import type { Taint } from "../../clusters/node-config.ts";

/** What the user data of an AL2023 node says: nodeadm's NodeConfig (awslabs/amazon-eks-ami, nodeadm/api/v1alpha1), as far as a node here heeds it. */
export interface NodeConfig {
  readonly cluster: { readonly name: string; readonly endpoint: string; readonly certificateAuthority: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  /** Fields of KubeletConfiguration. */
  readonly kubelet: Readonly<Record<string, unknown>>;
}

const CONTENT_TYPE = "application/node.eks.aws";
/** What a node here takes from a NodeConfig. */
const HEEDED = ["clusterDNS", "cpuCFSQuota", "kubeReserved", "maxPods", "podsPerCore", "systemReserved"] as const;
/** Fields that it ignores: all nodes share the memory and disk of the machine, and an image that kubelet deletes can't be pulled again. */
const OWN = [
  "evictionHard",
  "evictionMaxPodGracePeriod",
  "evictionSoft",
  "evictionSoftGracePeriod",
  "imageGCHighThresholdPercent",
  "imageGCLowThresholdPercent",
] as const;

const effect = z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]);
const taint = z.object({ key: z.string().min(1), value: z.string().optional(), effect });
const schema = z.object({
  apiVersion: z.literal("node.eks.aws/v1alpha1"),
  kind: z.literal("NodeConfig"),
  spec: z.object({
    cluster: z
      .object({ name: z.string(), apiServerEndpoint: z.string(), certificateAuthority: z.string(), cidr: z.string() })
      .partial()
      .default({}),
    kubelet: z
      .object({ config: z.record(z.string(), z.unknown()).default({}), flags: z.array(z.string()).default([]) })
      .prefault({}),
  }),
});

/**
 * Reads the user data of an instance. Gives undefined where it holds no NodeConfig: the instance does not become a node then.
 * @throws when nodeadm would refuse it, or when it asks for something that a node here can't have
 */
export function nodeConfigOf(userData: string): NodeConfig | undefined {
  const parts = mimeParts(userData).filter(({ type }) => type === CONTENT_TYPE);
  if (parts.length === 0) return undefined;
  // Later ones override earlier ones, and add to their flags (nodeadm, Merge).
  const all = parts.map(({ content }) => schema.parse(parse(content)).spec);
  const { name, apiServerEndpoint, certificateAuthority, cidr } = Object.assign(
    {},
    ...all.map(({ cluster }) => cluster),
  );
  for (const [field, value] of Object.entries({ name, apiServerEndpoint, certificateAuthority, cidr }))
    if (!value) throw new Error(`NodeConfig: spec.cluster.${field} is missing`);
  const config: Record<string, unknown> = Object.assign({}, ...all.map(({ kubelet }) => kubelet.config));
  const flags = flagsOf(all.flatMap(({ kubelet }) => kubelet.flags));
  const { registerWithTaints, ...fields } = config;
  const strange = Object.keys(fields).find((field) => ![...HEEDED, ...OWN].some((known) => known === field));
  if (strange !== undefined)
    throw new Error(`NodeConfig: spec.kubelet.config.${strange} is not among ${[...HEEDED, ...OWN].join(", ")}`);
  return {
    cluster: { name, endpoint: apiServerEndpoint, certificateAuthority },
    labels: Object.fromEntries(listOf(flags["node-labels"]).map((label) => pairOf(label, "="))),
    taints: [
      ...(z
        .array(taint)
        .nullish()
        .parse(registerWithTaints ?? []) ?? []),
      ...listOf(flags["register-with-taints"]).map(taintOf),
    ].map(({ value, ...rest }) => (value === undefined ? rest : { ...rest, value })),
    kubelet: Object.fromEntries(Object.entries(fields).filter(([field]) => HEEDED.some((known) => known === field))),
  };
}

interface MimePart {
  readonly type: string;
  readonly content: string;
}

/** The parts of a MIME multi-part archive; a text that is none is one part without a type, or nodeadm's where it is YAML of its kind. */
function mimeParts(text: string): MimePart[] {
  const boundary = /^Content-Type:\s*multipart\/mixed;\s*boundary="?([^"\r\n;]+)"?/im.exec(text)?.[1];
  if (boundary === undefined) return [{ type: text.includes("node.eks.aws/") ? CONTENT_TYPE : "", content: text }];
  return text
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => {
      const [, head = "", content = ""] = /^\r?\n([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(part) ?? [];
      return { type: /^Content-Type:\s*([^;\s]+)/im.exec(head)?.[1] ?? "", content };
    });
}

/** Values of kubelet's flags by their names. */
function flagsOf(flags: readonly string[]): Readonly<Partial<Record<"node-labels" | "register-with-taints", string>>> {
  return Object.fromEntries(
    flags.map((flag) => {
      const [, name, value = ""] = /^--(node-labels|register-with-taints)=(.*)$/s.exec(flag) ?? [];
      if (name === undefined)
        throw new Error(`NodeConfig: got the flag ${flag}, a node here takes --node-labels and --register-with-taints`);
      // Karpenter quotes it, for a shell that AL2023 doesn't have (pkg/providers/amifamily/bootstrap).
      return [name, value.replace(/^"(.*)"$/s, "$1")];
    }),
  );
}

const listOf = (text = ""): string[] => text.split(",").filter((item) => item !== "");

function pairOf(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function taintOf(text: string): z.output<typeof taint> {
  const [tainted, asked] = pairOf(text, ":");
  const [key, value] = pairOf(tainted, "=");
  return taint.parse({ key, value, effect: asked });
}
