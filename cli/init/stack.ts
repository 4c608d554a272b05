import { existsSync, linkSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type Document, isMap, isScalar, type Pair, parse, parseDocument, type YAMLMap } from "yaml";
import { keys } from "../../infra/settings.ts";
import { isEncrypted, type Project, type StackFile, stackPath } from "../fleet/stack-config.ts";
import type { InitRequest } from "./request.ts";

/** Makes the file of a new stack from one of the project's examples: comments and choices stay, values of other accounts and people go. */

/** Stacks of the checkout that are examples. */
export const examplesOf = (project: Project): string[] =>
  ["dev", "prod"].filter((name) => existsSync(stackPath(project, name)));

/** Keys of the examples that only concern a new VPC and have no effect in an existing one. */
const ofVpcToBeMade = { vpcCidr: undefined, zones: undefined, natGateways: undefined };

/** The values that a request sets, by config key; undefined removes the example's value, so that the default of Pulumi.yaml applies. */
function valuesOf(request: InitRequest, { name }: Project): Readonly<Record<string, unknown>> {
  const { publicAccessCidrs, privateAccessCidrs, admins, viewers, knownHosts } = request;
  const some = <T>(items: readonly T[]) => (items.length > 0 ? items : undefined);
  const ofProject = {
    fleet: request.fleet || undefined,
    environment: request.environment || undefined,
    ...(request.vpcCidr === undefined ? {} : { vpcCidr: request.vpcCidr }),
    ...(request.vpcId ? ofVpcToBeMade : {}),
    vpcId: request.vpcId || undefined,
    privateSubnetIds: some(request.privateSubnetIds),
    egressCidrs: some(request.egressCidrs),
    ...(publicAccessCidrs.length > 0 ? { endpointPublicAccess: true } : {}),
    endpointPublicAccessCidrs: some(publicAccessCidrs),
    endpointPrivateAccessCidrs: some(privateAccessCidrs),
    clusterAdmins: some(admins),
    clusterViewers: some(viewers),
    permissionsBoundary: request.boundary,
    rolePath: request.rolePath,
    functionPackage: request.functionPackage,
    sealingKeys: request.spokeEnvironments
      .filter((scope) => scope !== "")
      .map((scope) => ({ scope, generation: "1", active: true })),
    gitopsSystemRepoUrl: request.systemUrl || undefined,
    gitopsSystemRepoRevision: undefined,
    gitopsWorkloadsRepoUrl: request.workloadsUrl || undefined,
    gitopsWorkloadsRepoRevision: undefined,
    gitAuthentication: request.gitAuthentication,
    githubAppId: request.githubAppId,
    githubAppInstallationId: request.githubAppInstallationId,
    githubAppBaseUrl: request.githubAppBaseUrl,
    gitCaCertificate: request.caCertificate,
    gitKnownHosts: knownHosts === undefined ? undefined : `${knownHosts.trim()}\n`,
  };
  return {
    "aws:region": request.region || undefined,
    "aws:allowedAccountIds": [request.account],
    ...Object.fromEntries(Object.entries(ofProject).map(([key, value]) => [`${name}:${key}`, value])),
  };
}

/** A value in the style of the examples: lists of texts and maps on one line. */
function node(document: Document, value: unknown) {
  const made = document.createNode(value);
  if (!Array.isArray(value)) return made;
  if (value.every((item) => typeof item === "string")) return document.createNode(value, { flow: true });
  return document.createNode(value.map((item) => document.createNode(item, { flow: true })));
}

/** Sets a key and removes the comment above it, which is about the example's value. */
function set(config: YAMLMap, pair: Pair): void {
  const there = config.items.find(({ key }) => isScalar(key) && isScalar(pair.key) && key.value === pair.key.value);
  if (there === undefined) config.add(pair);
  else Object.assign(there, pair);
}

/** A text without its first comment, which is about the example. */
const withoutHead = (text: string): string => text.replace(/^(#.*\n)+/, "");

async function stackDocument(request: InitRequest, project: Project): Promise<Document> {
  const document = parseDocument(withoutHead(await readFile(stackPath(project, request.example), "utf8")));
  const config = document.get("config");
  if (!isMap(config)) throw new Error(`${stackPath(project, request.example)} has no config`);
  for (const [key, value] of Object.entries(valuesOf(request, project)))
    if (value === undefined) (config as YAMLMap).delete(key);
    else set(config, document.createPair(key, node(document, value)));
  return document;
}

/** The configuration that follows from a request. */
export async function stackConfig(request: InitRequest, project: Project): Promise<Readonly<Record<string, unknown>>> {
  const document = await stackDocument(request, project);
  return (document.toJS() as StackFile).config ?? {};
}

/** The text of a stack's file. */
export async function stackText(request: InitRequest, project: Project): Promise<string> {
  const document = await stackDocument(request, project);
  const head = `# The hub of the fleet ${request.fleet}, by fleet init after Pulumi.${request.example}.yaml. Pulumi.yaml describes every key.\n`;
  return `${head}${document.toString({ lineWidth: 0, flowCollectionPadding: false })}`;
}

/** Whether a key is a secret, which a later step sets and which is never shown. */
const isSecret = (name: string): boolean =>
  (keys as Readonly<Record<string, { secret?: boolean }>>)[name]?.secret === true;

/** How a stack's file differs from what would be written, key by key, apart from the secrets, which a later step sets. */
export async function stackDifferences(file: string, text: string, { name }: Project): Promise<string[]> {
  const [there, wanted] = [await readFile(file, "utf8"), text].map(
    (each) => (parse(each) as StackFile | null)?.config ?? {},
  ) as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(wanted), ...Object.keys(there)])].flatMap((key) => {
    const ours = key.startsWith(`${name}:`) ? key.slice(name.length + 1) : undefined;
    // The owner's own: init sets none.
    if (key === "aws:defaultTags") return [];
    if (isDeepStrictEqual(there[key], wanted[key]) || isEncrypted(there[key]) || isSecret(ours ?? "")) return [];
    // Keys that init does not know may contain anything, such as an AWS access key.
    const known = key in wanted || (ours !== undefined && ours in keys);
    const said = (value: unknown) => (value === undefined ? "not set" : known ? JSON.stringify(value) : "(not shown)");
    return [`${key}: is ${said(there[key])}, would be ${said(wanted[key])}`];
  });
}

/** Writes a new file, whole or not at all; throws EEXIST if it exists. */
export function writeNew(file: string, text: string): void {
  const partial = join(dirname(file), `.${basename(file)}.partial`);
  if (existsSync(partial)) rmSync(partial);
  writeFileSync(partial, text);
  try {
    linkSync(partial, file); // and not rename, which would replace another file
  } finally {
    rmSync(partial);
  }
}
