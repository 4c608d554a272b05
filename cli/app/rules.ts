import { gitHost, knows } from "../../lib/known-hosts.ts";
import { isPlatformNamespace, nameLimits, platformNamespaces } from "../../lib/names.ts";
import type { CommitStatusType } from "../../lib/notifications.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import { type Sealing, sealingScope, sealings, spokeNameRule } from "../../lib/spoke.ts";
import { receiverProblems } from "../sealing/receiver.ts";
import { textProblems } from "../yaml-text.ts";
import { awsEngineProblems } from "./ack.ts";
import { awsKindProblems } from "./aws-kinds.ts";

/** The request to onboard an application. */
export interface AppRequest {
  readonly app: string;
  /** The spoke. */
  readonly cluster: string;
  /** The spoke's environment. */
  readonly environment: string;
  /** Whose sealing keys the spoke reads, as spec.sealing says; default: its environment's, unless the fleet has keys of both. */
  readonly sealing?: Sealing | undefined;
  readonly tenant: string;
  /** The team's repository: ssh:// or https://. */
  readonly repositoryUrl: string;
  /** Branch. */
  readonly revision: string;
  /** Overlay in the repository. */
  readonly path: string;
  /** How the team's Git host signs the calls that tell of pushes; default: nobody calls. */
  readonly gitReceiver?: ReceiverType | undefined;
  /** What kind the team's Git host is, so that each commit gets its state there; default: nothing is written. */
  readonly commitStatus?: CommitStatusType | undefined;
  /** The repository at that host; default: as `repositoryUrl` has it. */
  readonly commitStatusAddress?: string | undefined;
  /** The kinds that it may order in AWS, or `none` alone; default: tables and queues. */
  readonly awsKinds?: readonly string[] | undefined;
  /** Whose kinds its tables and queues are, `crossplane` or `ack`; default: `crossplane`. */
  readonly awsEngine?: string | undefined;
  /** Its images, without tags, whose new tags are committed to `path`; default: none. */
  readonly autoUpdate?: readonly string[] | undefined;
  /** Which versions of them count, as a range of semantic versions; default: every one that is not a pre-release. */
  readonly autoUpdateRange?: string | undefined;
  /** Limits of its namespace, each `name=quantity`, instead of those in the template's ResourceQuota. */
  readonly quota?: readonly string[] | undefined;
}

/** The form of names that are labels of Kubernetes. */
export const slug = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

interface Form {
  readonly key: string;
  readonly value: string;
  readonly accepts: (value: string) => boolean;
  readonly what: string;
  readonly allowed: string;
}

/** A URL that Flux clones over SSH; it does not accept `git@host:path`. */
export function sshUrl(text: string): URL | undefined {
  if (!URL.canParse(text) || /[^!-~]|["'$#\\{}]/.test(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "ssh:" && url.username !== "" && url.password === "" && url.pathname.length > 1
    ? url
    : undefined;
}

/** A URL of a repository over HTTPS, without a credential, which would get into Git. */
function httpsUrl(text: string): URL | undefined {
  if (!URL.canParse(text) || /[^!-~]|["'$#\\{}?]/.test(text)) return undefined;
  const url = new URL(text);
  return url.protocol === "https:" && url.username === "" && url.password === "" && url.pathname.length > 1
    ? url
    : undefined;
}

/** The problems of a request that show without asking the fleet. */
export function appProblems(request: AppRequest): Problem[] {
  const { app, cluster, environment, sealing, tenant, repositoryUrl, revision, path } = request;
  const forms: readonly Form[] = [
    {
      key: "<app>",
      value: app,
      accepts: (name) => slug.test(name) && !isPlatformNamespace(name),
      what: "can't be the name of an application: it is the name of its namespace",
      allowed: `at most 63 lower-case letters, digits and hyphens, none of ${platformNamespaces.join(", ")}, and not kube-…`,
    },
    {
      key: "--cluster",
      value: cluster,
      accepts: spokeNameRule.accepts,
      what: "is not the name of a spoke",
      allowed: spokeNameRule.allowed,
    },
    ...[
      // Why there is none is told already.
      ...(environment === "" ? [] : [["--environment", environment]]),
      ["--tenant", tenant],
    ].map(([key = "", value = ""]) => ({
      key,
      value,
      accepts: (text: string) => slug.test(text),
      what: "is not a name",
      allowed: "at most 63 lower-case letters, digits and hyphens",
    })),
    {
      key: "--sealing",
      value: sealing ?? sealings[0],
      accepts: (text) => sealings.some((known) => known === text),
      what: "has an unknown value",
      allowed: sealings.join(", "),
    },
    {
      key: "--repository-url",
      value: repositoryUrl,
      accepts: (text) => (sshUrl(text) ?? httpsUrl(text)) !== undefined,
      what: "is not a URL that Flux clones from",
      allowed:
        "ssh://user@host/path.git (also for Git's short form user@host:path.git), or https://host/path.git without a credential",
    },
    {
      key: "--revision",
      value: revision,
      accepts: (text) => /^[A-Za-z0-9][-A-Za-z0-9._/]*$/.test(text) && !text.includes(".."),
      what: "is not a branch",
      allowed: "letters, digits and - . _ /, beginning with a letter or a digit",
    },
    {
      key: "--path",
      value: path,
      accepts: (text) => /^\.(\/[-A-Za-z0-9._]+)*\/?$/.test(text) && !text.split("/").includes(".."),
      what: "is not a folder of the repository",
      allowed: "a path from its root that begins with ./ and does not leave it, such as ./overlays/dev",
    },
  ];
  return [
    ...forms
      .filter(({ accepts, value }) => !accepts(value))
      .map(({ key, value, what, allowed }) => ({ key, what, got: shown(value), allowed, remedy: "change it" })),
    ...receiverProblems(request.gitReceiver),
    ...awsKindProblems(request.awsKinds ?? []),
    ...awsEngineProblems(request),
    ...textProblems({ "<app>": app, "--tenant": tenant, "--revision": revision }),
  ];
}

/** gitops-workloads does not contain spec.sealing of the Spoke, so where the fleet has keys of both scopes, the user has to name one. */
export function scopeProblems(
  { cluster, environment, sealing }: AppRequest,
  scopes: readonly string[] = [],
): Problem[] {
  const own = sealingScope({ name: cluster, environment, sealing: "cluster" });
  if (sealing !== undefined || !scopes.includes(own)) return [];
  return [
    {
      key: "--sealing",
      what: `must be named: the fleet has a sealing key of scope ${own} and may have one of ${environment}`,
      got: "(nothing)",
      allowed: sealings.join(", "),
      remedy: `give the value of spec.sealing in spokes/<fleet>/${cluster}/spoke.yaml of gitops-system, or environment if it is not set there`,
    },
  ];
}

/** The application's IAM role has the names of the cluster and of the application, and IAM refuses a name that is too long. */
export function roleProblems(clusterName: string, app: string): Problem[] {
  const role = `${clusterName}_${app}`;
  if (role.length <= nameLimits.iamRole) return [];
  return [
    {
      key: "<app>",
      what: `leads to an IAM role whose name has ${role.length} characters`,
      got: role,
      allowed: `at most ${nameLimits.iamRole} characters`,
      remedy: `shorten the name by at least ${role.length - nameLimits.iamRole} characters`,
    },
  ];
}

/** Whether the team's Git host is among the host keys that the application's namespace gets. */
export function hostProblems(repositoryUrl: string, knownHosts: string): Problem[] {
  const { name, scan } = gitHost(new URL(repositoryUrl));
  if (knows(knownHosts, name)) return [];
  return [
    {
      key: "--repository-url",
      what: `names the Git host ${name}, whose key is not known, so Flux could not tell it from an impostor`,
      got: repositoryUrl,
      allowed: "a host with a line in known_hosts: that of the fleet's gitops-workloads, or --known-hosts FILE",
      remedy: `${scan} > known_hosts, compare the key with the one that the host publishes, then --known-hosts known_hosts`,
    },
  ];
}
