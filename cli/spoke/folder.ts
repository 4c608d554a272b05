import { join } from "node:path";
import { parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { clusterScopePrefix } from "../../lib/names.ts";
import type { Problem } from "../../lib/problems.ts";
import type { ReceiverType } from "../../lib/receivers.ts";
import { ringComposition } from "../../lib/rings.ts";
import { type Sealing, sealingScope } from "../../lib/spoke.ts";
import { type FleetFacts, scopesOf } from "../fleet/facts.ts";
import { fleetProblems, fleetsOf } from "../fleet/folders.ts";
import { below, checkoutProblems, type Files, instantiate, writeFolder } from "../folder.ts";
import { keyFiles, ownKeyProblems } from "../sealing/keys-folder.ts";
import { receiverFlag } from "../sealing/receiver.ts";
import { choiceProblems, refuse, together } from "../usage.ts";
import { textProblems } from "../yaml-text.ts";
import { type NodeCounts, nodeProblems, nodesOf } from "./nodes.ts";
import {
  cidrProblems,
  nameProblems,
  networksOf,
  type Offer,
  publicAccessProblems,
  readOffer,
  ringProblems,
  schemaProblems,
  versionProblems,
} from "./rules.ts";
import {
  type DeployKeys,
  deployKeyChoices,
  registration,
  type SpokeSecrets,
  secretsList,
  spokeSecrets,
} from "./secrets.ts";

/** The request for a new spoke; missing members have the fleet's or the Spoke API's default. */
export interface SpokeRequest extends NodeCounts {
  readonly name: string;
  readonly environment: string;
  readonly tenant: string;
  readonly region?: string | undefined;
  readonly kubernetesVersion?: string | undefined;
  readonly cidr?: string | undefined;
  /** ARNs of IAM roles or users that administer the cluster. */
  readonly admins?: readonly string[] | undefined;
  /** IPv4 networks of people and pipelines that may use the public endpoint; the hub always may. */
  readonly publicAccessCidrs?: readonly string[] | undefined;
  /** The ring whose branch it follows. */
  readonly ring?: string | undefined;
  readonly sealing?: Sealing | undefined;
  /** How the Git host signs the calls that tell of pushes; default: nobody calls. */
  readonly gitReceiver?: ReceiverType | undefined;
  /** Default: the fleet's. */
  readonly deployKeys?: DeployKeys | undefined;
  /** Lines of known_hosts for deploy keys of its own; default: those of the fleet's credentials. */
  readonly knownHosts?: string | undefined;
}

/** The folder of a new spoke. */
export interface NewSpoke extends Pick<SpokeSecrets, "publicKeys"> {
  readonly fleet: string;
  readonly folder: string;
  /** By their path in the folder. */
  readonly files: Files;
  /** The numbers that the request leads to; undefined where the Spoke API's defaults apply. */
  readonly nodes: ReturnType<typeof nodesOf>;
  /** What a person does with new deploy keys; empty without any. */
  readonly register: string;
}

/** The template of a spoke's folder, which every checkout of gitops-system has. */
export const spokeTemplate = join("templates", "spoke");
const flags = {
  region: "--region",
  tenant: "--tenant",
  environment: "--environment",
  admins: "--admin",
  endpoint: "--public-access-cidr",
  ring: "--ring",
  sealing: "--sealing",
  gitReceiver: receiverFlag,
};

/** Members of the specification that the template has no placeholder for. */
function extras({ admins = [], cidr, gitReceiver, publicAccessCidrs = [], ring, sealing }: SpokeRequest) {
  return {
    ...(cidr === undefined ? {} : { network: { cidr } }),
    ...(publicAccessCidrs.length === 0 ? {} : { endpoint: { publicAccessCidrs: [...new Set(publicAccessCidrs)] } }),
    ...(admins.length === 0 ? {} : { admins }),
    ...(ring === undefined ? {} : { ring }),
    ...(sealing === undefined ? {} : { sealing }),
    ...(gitReceiver === undefined ? {} : { gitReceiver }),
  };
}

/** All problems of a request that the checkout shows. */
export function problemsOf(checkout: string, request: SpokeRequest, offer: Offer): Problem[] {
  const { name, cidr, deployKeys, environment, kubernetesVersion, region, tenant } = request;
  const named = nameProblems(name);
  // In any fleet, because gitops-workloads has one folder per cluster name.
  const taken = named.length === 0 ? fleetsOf(checkout, name) : [];
  const there = taken.map((fleet) => ({
    key: "<name>",
    what: "already has a folder",
    got: join(checkout, spokeFolder(fleet, name)),
    allowed: "a name that no spoke of any fleet has",
    remedy: "choose another name; to change an existing spoke, edit its spoke.yaml",
  }));
  return [
    ...named,
    ...there,
    ...choiceProblems(
      "--environment",
      environment,
      offer.environments,
      "choose one, or make it first: fleet add-environment",
    ),
    ...(deployKeys === undefined ? [] : choiceProblems("--deploy-keys", deployKeys, deployKeyChoices, "choose one")),
    ...publicAccessProblems(request.publicAccessCidrs ?? []),
    ...versionProblems(kubernetesVersion, environment, offer),
    ...nodeProblems(request, offer.schema),
    ...(cidr === undefined ? [] : cidrProblems(cidr, [])),
    ...schemaProblems(offer.schema, { environment, tenant, region, ...extras(request) }, flags),
    ...textProblems({ "--environment": environment, "--tenant": tenant }),
  ];
}

/** The Spoke of the template with what it has no placeholder for; comments stay. */
function completed(files: Files, request: SpokeRequest, nodes: NewSpoke["nodes"]): Files {
  const document = parseDocument(files["spoke.yaml"] ?? "");
  for (const [member, value] of Object.entries({ ...extras(request), ...(nodes === undefined ? {} : { nodes }) }))
    document.setIn(["spec", member], document.createNode(value));
  if (request.ring !== undefined)
    document.setIn(
      ["spec", "crossplane", "compositionRef"],
      document.createNode({ name: ringComposition(request.ring) }),
    );
  return { ...files, "spoke.yaml": document.toString({ lineWidth: 0 }) };
}

/** The problems of the request that the fleet's sealing keys show. */
function keyProblems(request: SpokeRequest, scope: string, fleet: FleetFacts): Problem[] {
  const scopes = scopesOf(fleet);
  if (request.sealing !== "cluster")
    return scopes === undefined
      ? []
      : choiceProblems(
          "--environment",
          scope,
          scopes.filter((name) => !name.startsWith(clusterScopePrefix)),
          "choose one, or add a sealing key of the environment to the hub's stack and run pulumi up",
        );
  return ownKeyProblems("--sealing", scope, fleet);
}

/**
 * The folder of a new spoke for a checkout of gitops-system. All problems of the request are reported before anything is
 * read from the fleet.
 * @param told problems of the command line
 * @throws UsageError that lists every problem.
 */
export async function plannedSpoke(
  checkout: string,
  request: SpokeRequest,
  connect: () => Promise<FleetFacts>,
  told: readonly Problem[] = [],
): Promise<NewSpoke> {
  const notHere = checkoutProblems(checkout, "gitops-system", spokeTemplate);
  if (notHere.length > 0) refuse("new-cluster", together(told, notHere));
  const offer = await readOffer(checkout);
  refuse("new-cluster", together(told, problemsOf(checkout, request, offer)));

  const fleet = await connect();
  const region = request.region ?? fleet.region;
  const scope = sealingScope(request);
  refuse("new-cluster", [
    ...fleetProblems(checkout, fleet.name),
    ...keyProblems(request, scope, fleet),
    ...ringProblems(checkout, fleet.name, request.ring),
    ...(region === undefined
      ? [
          {
            key: "--region",
            what: "is not known",
            got: "(nothing)",
            allowed: "an AWS region",
            remedy: "give --region",
          },
        ]
      : []),
    ...(request.cidr === undefined ? [] : cidrProblems(request.cidr, await networksOf(checkout, fleet))),
  ]);
  const values = {
    name: request.name,
    fleet: fleet.name,
    environment: request.environment,
    tenant: request.tenant,
    region: region as string,
    kubernetesVersion: request.kubernetesVersion ?? (offer.kubernetesVersion as string),
  };
  const nodes = nodesOf(request, offer.schema);
  const files = completed(await instantiate(checkout, spokeTemplate, values), request, nodes);
  const folder = join(checkout, spokeFolder(fleet.name, request.name));
  const secrets = await spokeSecrets({ ...request, scope, list: files[secretsList] ?? "" }, fleet);
  const keys = request.sealing === "cluster" ? keyFiles(fleet.generations?.[scope] ?? []) : {};
  return {
    ...{ fleet: fleet.name, folder, nodes, publicKeys: secrets.publicKeys, register: registration(secrets, fleet) },
    files: { ...files, ...secrets.files, ...below("sealing-keys", keys) },
  };
}

/** Makes the folder of a new spoke in a checkout of gitops-system, whole or not at all. */
export async function newSpoke(...request: Parameters<typeof plannedSpoke>): Promise<NewSpoke> {
  const spoke = await plannedSpoke(...request);
  await writeFolder(spoke.folder, spoke.files);
  return spoke;
}
