/** Stand-in for the `kubernetes` provider: any kind by server-side apply with await, CustomResource, and helm.v3.Release. */
import {
  type Diff,
  diffInputs,
  hasUnknown,
  openSdk,
  type PropertyMap,
  plainMap,
  type ResourceDefinition,
  replacing,
  serveProvider,
} from "../framework/index.ts";
import { loadKubeconfig } from "./client.ts";
import { kindOfToken } from "./kinds.ts";
import { objectDefinition } from "./object.ts";
import { RELEASE, releaseDefinition } from "./release.ts";
import { kubeconfigOf, openSession, SETTINGS, type Session } from "./session.ts";

const sdk = openSdk("kubernetes");
const definitions = new Map<string, ResourceDefinition<Session>>([[RELEASE, releaseDefinition()]]);
/** Top-level packages of the SDK that are not kinds of the API server. */
const NOT_KINDS = /^kubernetes:(helm\.sh|kustomize|yaml)\//;

function definition(token: string): ResourceDefinition<Session> | undefined {
  const known = definitions.get(token);
  if (known) return known;
  const kind = kindOfToken(token);
  // Lists are many objects, and Patch types change objects that others own: both are other programs' needs.
  if (!kind || NOT_KINDS.test(token) || /(List|Patch)$/.test(kind.kind)) return undefined;
  const none = { inputs: [], required: [], outputs: [], secretOutputs: [], json: [] };
  const open = { token, source: "the API server", ...none, open: true };
  const made = objectDefinition(kind, sdk.resource(token) ?? open);
  definitions.set(token, made);
  return made;
}

/** Another cluster means other objects: everything is made anew there. Other settings change in place. */
function diffConfig(olds: PropertyMap, news: PropertyMap): Diff {
  const { properties } = diffInputs(olds, news, { replaceOn: [] });
  if (hasUnknown(olds) || hasUnknown(news) || sameCluster(olds, news)) return { properties };
  return { properties: replacing(properties) };
}

function sameCluster(olds: PropertyMap, news: PropertyMap): boolean {
  const [left, right] = [olds, news].map((config) => {
    try {
      return loadKubeconfig(kubeconfigOf(plainMap(config))).getCurrentCluster()?.server;
    } catch {
      // A kubeconfig that cannot be read names no other cluster; using it fails with the reason.
      return undefined;
    }
  });
  return left === undefined || right === undefined || left === right;
}

await serveProvider<Session>({
  sdk,
  accepts: ["kubeconfig", "enableServerSideApply", ...SETTINGS],
  checkConfig: (config) =>
    config["enableServerSideApply"] === false
      ? [
          {
            property: "enableServerSideApply",
            reason: "got false, allowed is true: this provider applies server-side only",
          },
        ]
      : [],
  diffConfig,
  configure: openSession,
  resource: definition,
  resources: ["any kind of the API server (kubernetes:<apiVersion>:<Kind>)", RELEASE],
  close: async (session) => session?.helm.close(),
});
