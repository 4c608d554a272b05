import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { type FunctionHandler, RunFunctionRequest, Severity, Status } from "@crossplane-org/function-sdk-typescript";
import type { Spoke } from "../../functions/spoke/api.ts";
import { claimManifest, isFromPool } from "../../functions/spoke/claims.ts";
import { hubSecret } from "../../functions/spoke/hub.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { inBase64 } from "../../lib/base64.ts";
import { bridgeData } from "../../lib/bridge.ts";
import { networkLabel } from "../../lib/labels.ts";

/** The composition function of a state, called as Crossplane calls it, relying on nothing but the protocol. */

export interface Code {
  readonly handler: FunctionHandler;
  readonly bridgeData: typeof bridgeData;
}

/** The function and the bridge of the project in `folder`; without a folder those of this command. */
export async function codeOf(folder: string | undefined): Promise<Code> {
  if (folder === undefined) return { ...(await import("../../functions/spoke/handler.ts")), bridgeData };
  const load = (...path: string[]) => import(/* @vite-ignore */ pathToFileURL(join(folder, ...path)).href);
  const [{ handler }, bridge] = [await load("functions", "spoke", "handler.ts"), await load("lib", "bridge.ts")] as [
    Pick<Code, "handler">,
    Pick<Code, "bridgeData">,
  ];
  return { handler, bridgeData: bridge.bridgeData };
}

export interface Call {
  readonly spoke: Spoke;
  /** Composed resources as they are, by composition resource name. */
  readonly observed: ReadonlyMap<string, KubeObject>;
  readonly input: Readonly<Record<string, unknown>>;
  /** Data of the hub's cluster secret. */
  readonly hub: Readonly<Record<string, string>>;
  readonly others: readonly Spoke[];
  /** What the function required when it was called for this Spoke before: usually it requires the same again. */
  readonly required?: Required;
}

/** Objects that the function requires, by the name that it gives them: how it selects them. */
type Required = Readonly<Record<string, { kind: string; matchName?: string | undefined }>>;

export interface Reply {
  readonly desired: ReadonlyMap<string, KubeObject>;
  readonly status: Readonly<Record<string, unknown>>;
  /** Conditions that the function sets. */
  readonly conditions: readonly { type: string; status: string; reason: string; message: string }[];
  /** The fatal result, if the function failed. */
  readonly fatal?: string;
  readonly required: Required;
}

const conditionStatus: Readonly<Record<number, string>> = {
  [Status.STATUS_CONDITION_TRUE]: "True",
  [Status.STATUS_CONDITION_FALSE]: "False",
};
/** Calls until the requirements must stay the same (MaxRequirementsIterations in Crossplane's internal/xfn, and the first call). */
const mostRounds = 6;

interface Wanted {
  readonly kind: string;
  readonly matchName?: string | undefined;
  readonly matchLabels?: { readonly labels: Readonly<Record<string, string>> } | undefined;
}

/** The claims of the other Spokes on their networks. */
const claims = ({ others }: Call): KubeObject[] =>
  others.flatMap(({ metadata, spec, status }) => {
    const network = status?.network?.cidr;
    return network === undefined ? [] : [claimManifest(metadata.name, network, isFromPool(spec))];
  });

/** The objects of the hub's API server that the function requires: the cluster secret, and the claims of other Spokes. */
function fetched({ kind, matchName, matchLabels }: Wanted, call: Call): object[] {
  if (kind === "Secret" && matchName === hubSecret.name)
    return [{ apiVersion: "v1", kind: "Secret", metadata: { ...hubSecret }, data: inBase64(call.hub) }];
  const region = matchLabels?.labels[networkLabel];
  // The chain is ready, and nothing is being removed.
  if (region === undefined) return [];
  return claims(call).filter(({ metadata }) => metadata.labels?.[networkLabel] === region);
}

/**
 * The answer of the function once it has all objects that it requires, which is when it requires the same twice
 * (Crossplane, internal/xfn/required_resources.go).
 * @throws Error when it requires other objects again and again
 */
export async function answer(handler: FunctionHandler, call: Call): Promise<Reply> {
  let required: Required = call.required ?? {};
  for (let round = 0; round < mostRounds; round += 1) {
    const request = RunFunctionRequest.fromPartial({
      meta: { tag: "fleet diff" },
      observed: {
        composite: { resource: { ...call.spoke } },
        resources: Object.fromEntries([...call.observed].map(([key, object]) => [key, { resource: { ...object } }])),
      },
      input: { ...call.input },
      requiredResources: Object.fromEntries(
        Object.entries(required).map(([name, wanted]) => [
          name,
          { items: fetched(wanted, call).map((resource) => ({ resource })) },
        ]),
      ),
    });
    // Through the wire format, as from Crossplane: the function must not get our own objects.
    const { requirements, desired, results, conditions } = await handler.RunFunction(
      RunFunctionRequest.decode(RunFunctionRequest.encode(request).finish()),
    );
    const asked: Required = requirements?.resources ?? {};
    const fatal = results.find(({ severity }) => severity === Severity.SEVERITY_FATAL)?.message;
    if (isDeepStrictEqual(asked, required) || fatal !== undefined) {
      const resources = Object.entries(desired?.resources ?? {});
      return {
        desired: new Map(resources.map(([key, { resource }]) => [key, resource as unknown as KubeObject])),
        status: (desired?.composite?.resource?.["status"] ?? {}) as Record<string, unknown>,
        conditions: conditions.map(({ type, status, reason, message }) => ({
          ...{ type, reason, message: message ?? "" },
          status: conditionStatus[status] ?? "Unknown",
        })),
        ...(fatal === undefined ? {} : { fatal }),
        required: asked,
      };
    }
    required = asked;
  }
  throw new Error(
    `the composition function still requires more resources after ${mostRounds} calls, for ${call.spoke.metadata.name}`,
  );
}
