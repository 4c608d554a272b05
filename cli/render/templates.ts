import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { receiverEvents, receiverName } from "../../lib/receivers.ts";
import { fillTemplate } from "../../lib/template.ts";
import { defaultRange, writeCredential, writeSecretOf } from "../app/auto-update.ts";
import { withListed } from "../folder.ts";
import { filesBelow, isFolder, isYaml } from "./files.ts";

/** What the workspace makes of the repositories' templates. */

/** The repositories lack something that the compiler needs. */
export class WorkspaceError extends Error {
  override name = "WorkspaceError";
}

/** SealedSecrets are made when a spoke or an application is; the compiler does not read what is in them. */
export function sealedSecret(file: string, name: string, namespace: string): void {
  if (existsSync(file)) return;
  const metadata = { name, namespace };
  const spec = { encryptedData: { identity: "AgA=" }, template: { metadata } };
  writeFileSync(file, stringify({ apiVersion: "bitnami.com/v1alpha1", kind: "SealedSecret", metadata, spec }));
}

export function instantiate(template: string, to: string, values: Readonly<Record<string, string>>): void {
  mkdirSync(to, { recursive: true });
  cpSync(template, to, { recursive: true });
  for (const file of filesBelow(to).filter(isYaml)) {
    try {
      writeFileSync(file, fillTemplate(readFileSync(file, "utf8"), values));
    } catch (error) {
      throw new WorkspaceError(`${join(template, relative(to, file))}: ${(error as Error).message}`, { cause: error });
    }
  }
}

/** The Git host of what is made up; any type does. */
const type = "github";

function list(folder: string, list: "resources" | "components", name: string): void {
  const file = join(folder, "kustomization.yaml");
  if (existsSync(file)) writeFileSync(file, withListed(readFileSync(file, "utf8"), list, name));
}

/** Members of a made-up Spoke's specification that have its Git host call it, with the token among its secrets; none in a chain without that. */
export function spokeReceiver(system: string, folder: string): { readonly gitReceiver?: string } {
  const secrets = join(folder, "secrets");
  if (!isFolder(join(system, "spoke-bootstrap", "sync", "receiver")) || !isFolder(secrets)) return {};
  sealedSecret(join(secrets, `${receiverName}.yaml`), receiverName, "flux-system");
  list(secrets, "resources", `${receiverName}.yaml`);
  return { gitReceiver: type };
}

/** Has the Git host of a made-up application call it, if there is a template for that. */
export function appReceiver(workloads: string, folder: string, app: string): void {
  const template = join(workloads, "templates", "app-receiver");
  if (!isFolder(template)) return;
  const component = join(folder, "receiver");
  instantiate(template, component, { app, type, events: JSON.stringify(receiverEvents[type]) });
  sealedSecret(join(component, "token.yaml"), receiverName, app);
  list(folder, "components", "receiver");
}

/** Has a made-up application's Git host show the state of its commits, if there is a template for that. */
export function appCommitStatus(
  workloads: string,
  folder: string,
  values: { readonly app: string; readonly cluster: string },
): void {
  const template = join(workloads, "templates", "app-commit-status");
  if (!isFolder(template)) return;
  const component = join(folder, "commit-status");
  instantiate(template, component, { ...values, type, address: `https://github.com/check/${values.app}` });
  sealedSecret(join(component, "token.yaml"), "commit-status", values.app);
  list(folder, "components", "commit-status");
}

/** Has a made-up application order by ACK's kinds as well, if there is a template for that. */
export function appAck(workloads: string, folder: string, app: string): void {
  const template = join(workloads, "templates", "app-ack");
  if (!isFolder(template)) return;
  instantiate(template, join(folder, "ack"), { app });
  list(folder, "components", "ack");
}

/** Has the new images of a made-up application committed, if there is a template for that. */
export function appAutoUpdate(
  workloads: string,
  folder: string,
  values: { readonly app: string; readonly cluster: string; readonly path: string; readonly repositoryUrl: string },
): void {
  const template = join(workloads, "templates", "app-auto-update");
  if (!isFolder(template)) return;
  const { app } = values;
  const component = join(folder, "auto-update");
  const image = { image: app, repository: `ghcr.io/check/${app}`, registryProvider: "generic", range: defaultRange };
  instantiate(template, component, { ...values, ...image, revision: "main" });
  sealedSecret(join(folder, writeCredential), writeSecretOf(app), app);
  list(folder, "components", "auto-update");
}
