import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDocument } from "yaml";
import { type ClusterMetadata, readBridgeData } from "../../lib/bridge.ts";
import { wrongFacts } from "../../lib/bridge-problems.ts";
import { bridgeFile } from "../../lib/layout.ts";
import { type Problem, shown } from "../../lib/problems.ts";
import { repositoryName, repositoryUrl, sampleSigners } from "./clusters.ts";
import { isObject } from "./files.ts";

/** The facts about a fleet's hub that `fleet facts` has recorded in gitops-system. */
export interface RecordedFacts {
  /** From the top of gitops-system. */
  readonly file: string;
  /** Undefined where something is wrong with them. */
  readonly hub?: ClusterMetadata;
  readonly problems: readonly Problem[];
}

export const isBridge = (data: unknown): data is Readonly<Record<string, string>> =>
  isObject(data) && Object.values(data).every((value) => typeof value === "string");

const again = "run fleet facts again and commit it";

/** The content of a file of facts, and what is wrong with it. A key that another version of the contract had is not read. */
function read(text: string, fleet: string): Omit<RecordedFacts, "file"> {
  const document = parseDocument(text);
  const data: unknown = document.errors.length > 0 ? undefined : document.toJS();
  if (!isBridge(data)) {
    const what = "is not a YAML map of strings";
    return {
      problems: [{ key: "the file", what, got: "(not shown)", allowed: "what fleet facts writes", remedy: again }],
    };
  }
  const of = data["fleet"];
  const other = {
    key: "fleet",
    what: "is another than that of the folder",
    got: shown(of),
    allowed: fleet,
    remedy: "move the file to the folder of its fleet",
  };
  const wrong = wrongFacts(data).map((problem) => ({ ...problem, remedy: `${problem.remedy}, then ${again}` }));
  const problems = of === undefined || of === fleet ? wrong : [other, ...wrong];
  return problems.length > 0 ? { problems } : { problems, hub: readBridgeData(data) };
}

/** The recorded facts about the hub of a fleet; undefined where there are none. @param system checkout of gitops-system */
export function recordedFacts(system: string, fleet: string): RecordedFacts | undefined {
  const file = bridgeFile(fleet);
  const path = join(system, file);
  return existsSync(path) ? { file, ...read(readFileSync(path, "utf8"), fleet) } : undefined;
}

/** A hub whose repositories are found in the checkouts: the folder has the name that the project gives, whatever the URL ends with. */
export function inCheckouts(hub: ClusterMetadata): ClusterMetadata {
  const named = (url: string, name: string) => (repositoryName(url) === name ? url : repositoryUrl(name));
  const { gitopsSystem, gitopsWorkloads } = hub.repositories;
  return {
    ...hub,
    repositories: {
      gitopsSystem: { ...gitopsSystem, url: named(gitopsSystem.url, "gitops-system") },
      gitopsWorkloads: { ...gitopsWorkloads, url: named(gitopsWorkloads.url, "gitops-workloads") },
    },
  };
}

/** A hub on which the add-ons, the credential and the signers that it does not have are looked at, too. */
export const withEverything = (hub: ClusterMetadata, addons: readonly string[]): ClusterMetadata => ({
  ...hub,
  chartsCredential: true,
  signers: sampleSigners,
  addons: [...new Set([...hub.addons, ...addons])].sort(),
});

/** The hub as a sample spoke takes it, which enables every add-on: what the hub does not permit add-ons is that of `sample`. */
export const withAddonsPermitted = (hub: ClusterMetadata, sample: ClusterMetadata): ClusterMetadata => ({
  ...hub,
  addonBoundaryArn: hub.addonBoundaryArn || sample.addonBoundaryArn,
  metricsWorkspaceArn: hub.metricsWorkspaceArn || sample.metricsWorkspaceArn,
  metricsEndpoint: hub.metricsEndpoint || sample.metricsEndpoint,
  clusterApiKeyArn: hub.clusterApiKeyArn || sample.clusterApiKeyArn,
});
