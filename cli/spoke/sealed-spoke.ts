import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Document, parseDocument } from "yaml";
import { spokeFolder } from "../../lib/layout.ts";
import { type ReceiverType, receiverTypes } from "../../lib/receivers.ts";
import type { Sealing } from "../../lib/spoke.ts";
import { receiverProblems } from "../sealing/receiver.ts";
import { refuse } from "../usage.ts";
import { noSpoke } from "./file.ts";

/** A Spoke in a checkout of gitops-system, as far as sealing for it needs it. */
interface SealedSpoke {
  readonly folder: string;
  readonly path: string;
  readonly document: Document;
  readonly environment: string;
  readonly sealing: Sealing;
  readonly gitReceiver: ReceiverType | undefined;
}

/** @throws UsageError when the fleet has no such spoke, or its file is not a Spoke. */
export async function readSpoke(
  command: string,
  checkout: string,
  fleet: string,
  name: string,
  key: string,
): Promise<SealedSpoke> {
  const folder = join(checkout, spokeFolder(fleet, name));
  const path = join(folder, "spoke.yaml");
  const document = parseDocument(existsSync(path) ? await readFile(path, "utf8") : "");
  const environment: unknown = document.errors.length > 0 ? undefined : document.getIn(["spec", "environment"]);
  if (typeof environment !== "string")
    refuse(command, [
      noSpoke(existsSync(path) ? `${path} without spec.environment` : `${name} of fleet ${fleet}`, [], key),
    ]);
  const sealing = document.getIn(["spec", "sealing"]) === "cluster" ? "cluster" : "environment";
  const receiver: unknown = document.getIn(["spec", "gitReceiver"]);
  const gitReceiver = receiverTypes.find((type) => type === receiver);
  const type = typeof receiver === "string" || receiver === undefined ? receiver : JSON.stringify(receiver);
  // An unknown type would leave the spoke without the token that its Receiver needs.
  refuse(command, receiverProblems(type, `spec.gitReceiver of ${path}`));
  return { folder, path, document, environment: environment as string, sealing, gitReceiver };
}
