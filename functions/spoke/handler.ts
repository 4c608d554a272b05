import {
  type FunctionHandler,
  fatal,
  fromObject,
  getInput,
  getObservedComposedResources,
  getObservedCompositeResource,
  normal,
  Ready,
  type RunFunctionRequest,
  type RunFunctionResponse,
  Status,
  setDesiredCompositeStatus,
  Target,
  to,
} from "@crossplane-org/function-sdk-typescript";
import type { Spoke } from "./api.ts";
import { type Claim, readClaim } from "./claims.ts";
import { type Answer, compose } from "./compose.ts";
import { readHub } from "./hub.ts";
import type { KubeObject } from "./kube.ts";
import { Observed } from "./observed.ts";
import { chainPrefix, claimsPrefix, remainsPrefix, requirements, type Selector } from "./requirements.ts";
import { readSettings } from "./settings.ts";

type Fetched = RunFunctionRequest["requiredResources"];

function items(fetched: Fetched, name: string): KubeObject[] {
  return (fetched[name]?.items ?? []).flatMap(({ resource }) => (resource ? [resource as unknown as KubeObject] : []));
}

/** What was fetched under names with a prefix, by the rest of the name. */
const startingWith = (fetched: Fetched, prefix: string): Map<string, KubeObject[]> =>
  new Map(
    Object.keys(fetched)
      .filter((name) => name.startsWith(prefix))
      .map((name) => [name.slice(prefix.length), items(fetched, name)]),
  );

/** The claims on networks that were fetched, by region. */
const claimsIn = (fetched: Fetched): Map<string, Claim[]> =>
  new Map(
    [...startingWith(fetched, claimsPrefix)].map(([region, objects]) => [
      region,
      objects.flatMap((object) => readClaim(object) ?? []),
    ]),
  );

function ask(response: RunFunctionResponse, selectors: Readonly<Record<string, Selector>>): void {
  response.requirements = {
    extraResources: {},
    schemas: {},
    resources: Object.fromEntries(
      Object.entries(selectors).map(([name, { matchLabels, ...selector }]) => [
        name,
        { ...selector, matchLabels: matchLabels && { labels: { ...matchLabels } } },
      ]),
    ),
  };
}

/** A protobuf Struct can't contain undefined. */
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

function tell(response: RunFunctionResponse, answer: Answer): void {
  setDesiredCompositeStatus({ rsp: response, status: plain({ ...answer.status }) });
  const { desired, meta } = response;
  if (!desired?.composite || !meta) throw new Error("the function SDK returned a response without desired state");
  desired.composite.ready = answer.ready ? Ready.READY_TRUE : Ready.READY_FALSE;
  for (const [key, { manifest, ready }] of answer.wanted) {
    desired.resources[key] = fromObject(
      plain({ ...manifest }),
      undefined,
      ready ? Ready.READY_TRUE : Ready.READY_FALSE,
    );
  }
  response.conditions = answer.conditions.map(({ type, status, reason, message }) => ({
    type,
    reason,
    message,
    status: status === "True" ? Status.STATUS_CONDITION_TRUE : Status.STATUS_CONDITION_FALSE,
    target: Target.TARGET_COMPOSITE,
  }));
  for (const event of answer.events) normal(response, event);
  meta.ttl = { seconds: answer.ttl, nanos: 0 };
}

/** An error of the platform, not of this Spoke: everything stays as it is until the platform team corrects it. */
function refuse(response: RunFunctionResponse, error: RangeError): RunFunctionResponse {
  response.conditions = [
    {
      type: "SpecAccepted",
      status: Status.STATUS_CONDITION_UNKNOWN,
      reason: "PlatformNotReady",
      message: error.message,
      target: Target.TARGET_COMPOSITE,
    },
  ];
  return fatal(response, error.message);
}

function answer(request: RunFunctionRequest, response: RunFunctionResponse): RunFunctionResponse {
  const spoke = getObservedCompositeResource(request)?.resource as unknown as Spoke | undefined;
  if (!spoke) throw new RangeError("the request has no composite resource");
  const settings = readSettings(getInput(request));
  const composed = new Map(
    Object.entries(getObservedComposedResources(request)).flatMap(([key, { resource }]) =>
      resource ? [[key, resource as unknown as KubeObject] as const] : [],
    ),
  );
  const { requiredResources: fetched } = request;
  const claims = claimsIn(fetched);
  const hub = "hub" in fetched ? readHub(items(fetched, "hub")[0]) : undefined;
  const needed = requirements(spoke, new Observed(composed), settings, hub && { hub, claims });
  ask(response, needed);
  // Crossplane fetches the required objects and calls again.
  if (hub === undefined || Object.keys(needed).some((name) => !(name in fetched))) return response;
  tell(
    response,
    compose({
      spoke,
      composed,
      settings,
      hub,
      claims,
      chain: [...startingWith(fetched, chainPrefix).values()].flat(),
      labelled: [...startingWith(fetched, remainsPrefix).values()].flat(),
      now: Date.now(),
    }),
  );
  return response;
}

/** The function as Crossplane calls it. */
export const handler: FunctionHandler = {
  RunFunction: async (request) => {
    const response = to(request);
    try {
      return answer(request, response);
    } catch (error) {
      if (error instanceof RangeError) return refuse(response, error);
      throw error;
    }
  },
};
