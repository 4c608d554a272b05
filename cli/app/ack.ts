import { join } from "node:path";
import type { Problem } from "../../lib/problems.ts";
import { below, type Files, instantiate, withListed } from "../folder.ts";
import { choiceProblems } from "../usage.ts";
import { defaultAwsKinds } from "./aws-kinds.ts";

/** Tables and queues by ACK's kinds: what an application has for that. */

/** What a request says of an application's kinds in AWS. */
interface Ordering {
  readonly awsKinds?: readonly string[] | undefined;
  readonly awsEngine?: string | undefined;
}

/** What a Spoke's file says of its add-ons. */
interface Addons {
  readonly addons: readonly string[];
  readonly path: string;
}

/** Whose kinds an application's tables and queues are; the first one without being asked. */
export const awsEngines = ["crossplane", "ack"] as const;

const flag = "--aws-engine";
const template = join("templates", "app-ack");
/** The component in the application's folder. */
const component = "ack";

/** The add-on with the controller of each kind that ACK makes here. */
const addons: Readonly<Record<string, string>> = { "dynamodb.Table": "ack_dynamodb", "sqs.Queue": "ack_sqs" };

/** What Flux applies of the team's repository where nothing else is said. */
export const overlayOf = (environment: string, engine: string | undefined): string =>
  `./overlays/${environment}${engine === "ack" ? "-ack" : ""}`;

/** The add-ons that an application needs. */
const addonsOf = ({ awsKinds = defaultAwsKinds }: Ordering): string[] =>
  Object.entries(addons).flatMap(([kind, addon]) => (awsKinds.includes(kind) ? [addon] : []));

const isByAck = ({ awsEngine }: Ordering): boolean => awsEngine === "ack";

/** The problems of what a request says of whose kinds it orders by. */
export function awsEngineProblems(request: Ordering): Problem[] {
  const { awsEngine, awsKinds = defaultAwsKinds } = request;
  if (awsEngine === undefined) return [];
  const unknown = choiceProblems(flag, awsEngine, awsEngines, `leave it out for ${awsEngines[0]}`);
  if (unknown.length > 0 || !isByAck(request) || addonsOf(request).length > 0) return unknown;
  return [
    {
      ...{ key: flag, what: "is ack, which makes none of the kinds that the application may order" },
      got: `--aws-kind ${awsKinds.join(" --aws-kind ")}`,
      allowed: `ack beside ${Object.keys(addons).join(" or ")}`,
      remedy: `leave ${flag} out, or give one of these kinds too`,
    },
  ];
}

/** The problem of a Spoke without the controllers. @param facts what the Spoke says, if that is known */
export function ackAddonProblems(
  request: Ordering & { readonly cluster: string },
  facts: Addons | undefined,
): Problem[] {
  if (!isByAck(request) || facts === undefined) return [];
  const missing = addonsOf(request).filter((addon) => !facts.addons.includes(addon));
  if (missing.length === 0) return [];
  const names = missing.join(" and ");
  return [
    {
      key: flag,
      what: `needs the add-on${missing.length === 1 ? "" : "s"} ${names} on the spoke ${request.cluster}`,
      got: `spec.addons: [${facts.addons.join(", ")}] in ${facts.path}`,
      allowed: `a Spoke with ${names} in spec.addons`,
      remedy: `add ${missing.length === 1 ? "it" : "them"} there and push, or leave ${flag} out`,
    },
  ];
}

/** The files of an application with its rights to order by ACK, if the request asks for that. */
export async function withAck(
  files: Files,
  checkout: string,
  request: Ordering & { readonly app: string },
): Promise<Files> {
  if (!isByAck(request)) return files;
  return {
    ...files,
    ...below(component, await instantiate(checkout, template, { app: request.app })),
    "kustomization.yaml": withListed(files["kustomization.yaml"] ?? "", "components", component),
  };
}
