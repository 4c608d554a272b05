import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { hubName, namespaces } from "../../lib/names.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { slug } from "../app/rules.ts";
import { foldersIn, isSystemCheckout, isWorkloadsCheckout } from "../fleet/folders.ts";
import { spokeProblems } from "../spoke/file.ts";
import { folderProblems } from "../usage.ts";
import { sealedOf } from "./sealed-secrets.ts";

/** What is wrong with a Secret that is to be sealed, before the fleet is asked. */

export interface SealRequest {
  readonly cluster: string;
  readonly namespace: string;
  readonly name: string;
  readonly type: string | undefined;
  /** Where the SealedSecret is written; default: standard output. */
  readonly output: string | undefined;
}

/** Checkouts that say which clusters and applications there are. */
export interface Checkouts {
  /** Of gitops-system; undefined where there is none. */
  readonly system: string | undefined;
  /** Of gitops-workloads; undefined where there is none, and namespaces are not checked. */
  readonly workloads: string | undefined;
}

/** The form of a Secret's name (Kubernetes, DNS subdomain). */
const isSecretName = (name: string): boolean =>
  name.length <= 253 && name.split(".").every((part) => /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(part));

/** Keys that the API server requires of a type (Kubernetes documentation, "Types of Secret"). */
const requiredKeys: Readonly<Record<string, readonly string[]>> = {
  "kubernetes.io/dockerconfigjson": [".dockerconfigjson"],
  "kubernetes.io/ssh-auth": ["ssh-privatekey"],
  "kubernetes.io/tls": ["tls.crt", "tls.key"],
};

const nameProblems = ({ name }: SealRequest): Problem[] =>
  name === "" || isSecretName(name)
    ? []
    : [
        {
          key: "--name",
          what: "can't be the name of a Secret",
          got: shown(name),
          allowed: "lower-case letters, digits, hyphens and dots (a DNS name), at most 253 characters",
          remedy: "correct the name",
        },
      ];

/** @param keys those that the Secret will have */
export function typeProblems({ type }: SealRequest, keys: readonly string[]): Problem[] {
  const missing = (requiredKeys[type ?? ""] ?? []).filter((key) => !keys.includes(key));
  if (missing.length === 0) return [];
  return [
    {
      key: "--type",
      what: `is one of which Kubernetes requires ${missing.join(" and ")}`,
      got: `${type} with ${keys.join(", ") || "no key"}`,
      allowed: "the type's own keys",
      remedy: `give ${missing.map((key) => `--from-file ${key}=PATH`).join(" ")}`,
    },
  ];
}

/** The problems of a cluster of which no checkout of gitops-system says the scope. @param key what names the cluster */
export function clusterProblems(
  { cluster }: Pick<SealRequest, "cluster">,
  { system }: Pick<Checkouts, "system">,
  key = "--cluster",
): Problem[] {
  if (system !== undefined && isSystemCheckout(system))
    return cluster === "" || cluster === hubName ? [] : spokeProblems(system, cluster, key);
  return [
    {
      key: "--system",
      what:
        system === undefined
          ? "is needed: here is no checkout of gitops-system, which says for which scope the cluster's secrets are sealed"
          : "is not a checkout of gitops-system",
      got: system ?? "(nothing)",
      allowed: "a clone of gitops-system; default: the current folder, or gitops-system in it or beside it",
      remedy: "name one with --system DIR",
    },
  ];
}

function namespaceProblems({ cluster, namespace }: SealRequest, { workloads }: Checkouts): Problem[] {
  if (namespace === "") return [];
  const problem = { key: "--namespace", got: shown(namespace) };
  if (!slug.test(namespace))
    return [
      {
        ...problem,
        what: "is not the name of a namespace",
        allowed: "at most 63 lower-case letters, digits and hyphens",
        remedy: "correct the name",
      },
    ];
  if (workloads === undefined || cluster === hubName || namespace === namespaces.flux) return [];
  const apps = foldersIn(join(workloads, "clusters", cluster));
  if (apps.includes(namespace)) return [];
  return [
    {
      ...problem,
      what: `is not that of an application of ${cluster || "the cluster"} in ${workloads}`,
      allowed: [...apps, namespaces.flux].join(", "),
      remedy: "correct it, pull that checkout if the application is new, or onboard it first: fleet onboard",
    },
  ];
}

function outputProblems({ output, namespace, name }: SealRequest): Problem[] {
  if (output === undefined) return [];
  const problem = { key: "--output", got: output };
  if (!existsSync(dirname(output)))
    return [
      {
        ...problem,
        what: "is in a folder that does not exist",
        allowed: "a file in a folder",
        remedy: "make it first",
      },
    ];
  if (!existsSync(output)) return [];
  const [sealed] = statSync(output).isFile() ? sealedOf(output) : [];
  const isAlone = sealed !== undefined && parseAllDocuments(readFileSync(output, "utf8")).length === 1;
  if (isAlone && sealed.namespace === namespace && sealed.name === name) return [];
  return [
    {
      ...problem,
      what: "exists, and is not this SealedSecret alone",
      allowed: `a new file, or one with the SealedSecret ${namespace}/${name} and nothing else, which is replaced`,
      remedy: "name another file",
    },
  ];
}

/** Every problem of a request that shows without asking the fleet. */
export function requestProblems(request: SealRequest, checkouts: Checkouts): Problem[] {
  const ofCluster = clusterProblems(request, checkouts);
  // What namespaces a cluster has that is not there, nobody can say.
  const { workloads, ...others } = checkouts;
  return [
    ...ofCluster,
    ...folderProblems("--workloads", workloads, "a checkout of gitops-workloads"),
    ...namespaceProblems(request, ofCluster.length > 0 ? { ...others, workloads: undefined } : checkouts),
    ...nameProblems(request),
    ...outputProblems(request),
  ];
}

/** The checkouts that are named, or lie in a folder or beside it. */
export function checkoutsNear(
  folder: string,
  named: { readonly system?: string | undefined; readonly workloads?: string | undefined },
): Checkouts {
  const near = (repository: string) => [folder, join(folder, repository), join(dirname(folder), repository)];
  const system = named.system === undefined ? near("gitops-system").find(isSystemCheckout) : named.system;
  const places = [
    ...near("gitops-workloads"),
    ...(system === undefined ? [] : [join(dirname(system), "gitops-workloads")]),
  ];
  return { system, workloads: named.workloads ?? places.find(isWorkloadsCheckout) };
}
