import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import type { Problem } from "../../lib/problems.ts";
import { type ReceiverType, receiverTypes } from "../../lib/receivers.ts";
import type { Sealing } from "../../lib/spoke.ts";
import { fleetsOf } from "../fleet/folders.ts";
import { receiverProblems } from "../sealing/receiver.ts";
import { refuse } from "../usage.ts";
import { nameProblems } from "./rules.ts";

/** The Spoke of a folder in a checkout of gitops-system. */
interface SpokeFile {
  readonly folder: string;
  readonly path: string;
  readonly document: Document;
  readonly environment: string;
  readonly sealing: Sealing;
  readonly gitReceiver: ReceiverType | undefined;
}

const noSpoke = (key: string, got: string): Problem => ({
  key,
  what: "is not the name of a spoke in this checkout",
  got,
  allowed: "a folder in spokes/<fleet> with the spoke.yaml of a Spoke",
  remedy: "correct the name or the fleet, or pull the checkout; fleet new-cluster makes a new spoke",
});

/** The problem of a name that no spoke of any fleet in the checkout has. @param key the flag or argument that gives it */
export function spokeProblems(checkout: string, name: string, key: string): Problem[] {
  const wrong = nameProblems(name, key);
  const isThere = wrong.length > 0 || !existsSync(join(checkout, "spokes")) || fleetsOf(checkout, name).length > 0;
  return isThere ? wrong : [noSpoke(key, name)];
}

/** @throws UsageError when the fleet has no such spoke, or its file is not a Spoke. */
export async function readSpoke(
  command: string,
  checkout: string,
  fleet: string,
  name: string,
  key: string,
): Promise<SpokeFile> {
  const folder = join(checkout, spokeFolder(fleet, name));
  const path = join(folder, "spoke.yaml");
  const document = parseDocument(existsSync(path) ? await readFile(path, "utf8") : "");
  const environment: unknown = document.errors.length > 0 ? undefined : document.getIn(["spec", "environment"]);
  if (typeof environment !== "string")
    refuse(command, [
      noSpoke(key, existsSync(path) ? `${path} without spec.environment` : `${name} of fleet ${fleet}`),
    ]);
  const sealing = document.getIn(["spec", "sealing"]) === "cluster" ? "cluster" : "environment";
  const receiver: unknown = document.getIn(["spec", "gitReceiver"]);
  const gitReceiver = receiverTypes.find((type) => type === receiver);
  const type = typeof receiver === "string" || receiver === undefined ? receiver : JSON.stringify(receiver);
  // An unknown type would leave the spoke without the token that its Receiver needs.
  refuse(command, receiverProblems(type, `spec.gitReceiver of ${path}`));
  return { folder, path, document, environment: environment as string, sealing, gitReceiver };
}
