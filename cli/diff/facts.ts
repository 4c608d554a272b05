import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { type ClusterMetadata, readBridgeData } from "../../lib/bridge.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { isObject } from "../render/files.ts";
import { UsageError } from "../usage.ts";

/** Facts about the real fleet, from files: the command itself calls no cluster. */

/** @throws UsageError */
function read(file: string, flag: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new UsageError(`${flag}: ${(error as Error).message}`, { cause: error });
  }
}

/** The hub, from the stack output `bridgeData`. @throws UsageError */
export function readHubData(file: string): ClusterMetadata {
  try {
    return readBridgeData(JSON.parse(read(file, "--bridge")) as Record<string, string>);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(
      `--bridge ${file}: ${(error as Error).message}; it must be what pulumi stack output --json bridgeData writes`,
      { cause: error },
    );
  }
}

/** Objects of a file as kubectl writes them: documents, or a list. */
function objects(file: string): KubeObject[] {
  return parseAllDocuments(read(file, "--observed")).flatMap((document) => {
    const [error] = document.errors;
    if (error) throw new UsageError(`--observed: ${file} is not YAML: ${error.message.split("\n")[0]}`);
    const content: unknown = document.toJS();
    if (!isObject(content)) return [];
    return (Array.isArray(content["items"]) ? content["items"] : [content]) as KubeObject[];
  });
}

function byKey(file: string): Map<string, KubeObject> {
  const keyed = objects(file).flatMap((object) => {
    const key = object.metadata?.annotations?.[crossplaneAnnotations.resourceName];
    return key === undefined ? [] : [[key, object] as const];
  });
  if (keyed.length > 0) return new Map(keyed);
  throw new UsageError(
    `--observed: no object of ${file} has the annotation ${crossplaneAnnotations.resourceName}; write it with kubectl get -o yaml`,
  );
}

/** The recorded resources of spokes in `<spoke>.yaml`, by composition resource name. @throws UsageError */
export function readRecorded(folder: string | undefined): Map<string, ReadonlyMap<string, KubeObject>> {
  if (folder === undefined) return new Map();
  if (!existsSync(folder)) throw new UsageError(`--observed: there is no folder ${folder}`);
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => name.endsWith(".yaml"));
  const link = entries.find((entry) => !entry.isFile());
  if (link)
    throw new UsageError(`--observed: ${join(folder, link.name)} is not a regular file; replace a link by a copy`);
  const files = entries.map(({ name }) => name);
  return new Map(files.map((name) => [basename(name, ".yaml"), byKey(join(folder, name))]));
}
