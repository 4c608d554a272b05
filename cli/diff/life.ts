import { isDeepStrictEqual } from "node:util";
import type { FunctionHandler } from "@crossplane-org/function-sdk-typescript";
import type { Spoke } from "../../functions/spoke/api.ts";
import type { KubeObject } from "../../functions/spoke/kube.ts";
import { isOrphan } from "../../functions/spoke/orphan.ts";
import { crossplaneAnnotations } from "../../lib/labels.ts";
import { answer, type Call, type Reply } from "./function.ts";
import { atProvider, reportedStatus } from "./providers.ts";

/** A Spoke once its cluster runs. */
export interface Life {
  readonly spoke: Spoke;
  /** The desired composed resources, by composition resource name. */
  readonly composed: ReadonlyMap<string, KubeObject>;
  /** Composed resources as Crossplane would show them. */
  readonly observed: ReadonlyMap<string, KubeObject>;
  /** Why the Spoke does not get all that it asks for: messages of the composition function. */
  readonly problems: readonly string[];
}

export interface LifeOptions extends Omit<Call, "observed" | "required"> {
  readonly handler: FunctionHandler;
  /** The former composed resources; undefined for a new Spoke. */
  readonly before?: ReadonlyMap<string, KubeObject>;
  /** Recorded objects of the real spoke: the simulated AWS reports what they contain. */
  readonly recorded?: ReadonlyMap<string, KubeObject>;
}

const mostSteps = 60;

type Fields = Readonly<Record<string, unknown>>;

/** A recorded resource keeps its identity; its version is the requested one, as after an upgrade. */
function provided(key: string, object: KubeObject, { spoke, hub, recorded }: LifeOptions): Fields {
  const account = spoke.spec.account?.id ?? hub["aws_account_id"] ?? "000000000000";
  const reported = atProvider(key, object, account, hub["fleet"] ?? "");
  const known = (recorded?.get(key)?.status as { atProvider?: Fields } | undefined)?.atProvider;
  const { version } = reported;
  return { ...reported, ...known, ...(version === undefined ? {} : { version }) };
}

function applied(
  key: string,
  manifest: KubeObject,
  existing: KubeObject | undefined,
  options: LifeOptions,
): KubeObject {
  const same = isDeepStrictEqual(existing?.spec, manifest.spec);
  const object: KubeObject = {
    ...manifest,
    metadata: {
      ...manifest.metadata,
      namespace: options.spoke.metadata.namespace,
      annotations: { ...manifest.metadata.annotations, [crossplaneAnnotations.resourceName]: key },
      generation: (existing?.metadata.generation ?? 0) + (same ? 0 : 1),
    },
  };
  return { ...object, status: reportedStatus(object, () => provided(key, object, options)) };
}

const problemsOf = ({ fatal, conditions }: Reply): string[] => [
  ...(fatal === undefined ? [] : [fatal]),
  ...conditions.filter(({ status }) => fatal === undefined && status === "False").map(({ message }) => message),
];

/** A Spoke that is to be let go was made before that: one that comes so makes nothing. */
async function letGo(options: LifeOptions): Promise<Life> {
  const { spoke } = options;
  const made = await life({ ...options, spoke: { ...spoke, spec: { ...spoke.spec, deletionPolicy: "Delete" } } });
  return life({ ...options, spoke: { ...made.spoke, spec: spoke.spec }, before: made.observed });
}

const known = new WeakMap<FunctionHandler, Map<string, Promise<Life>>>();

/**
 * Reconciles a Spoke until nothing changes any more, with a simulated AWS that carries out every request at once.
 * Runs the function once for equal new Spokes: the samples of templates are mostly the same in both states.
 * @throws Error when that takes too many reconciliations
 */
export function life(options: LifeOptions): Promise<Life> {
  const { handler, spoke, hub, input, others, before, recorded } = options;
  if (before !== undefined || recorded !== undefined) return reconciled(options);
  const ofHandler = known.get(handler) ?? new Map<string, Promise<Life>>();
  known.set(handler, ofHandler);
  const key = JSON.stringify([spoke, hub, input, others]);
  const found = ofHandler.get(key) ?? (isOrphan(spoke) ? letGo(options) : reconciled(options));
  ofHandler.set(key, found);
  return found;
}

async function reconciled(options: LifeOptions): Promise<Life> {
  const { handler, input, hub, others } = options;
  let { spoke } = options;
  let observed = new Map(options.before ?? options.recorded);
  let required: Reply["required"] = {};
  for (let step = 0; step < mostSteps; step += 1) {
    const reply = await answer(handler, { spoke, observed, input, hub, others, required });
    // Crossplane changes nothing when a function fails.
    if (reply.fatal !== undefined) return { spoke, composed: observed, observed, problems: problemsOf(reply) };
    const next = new Map(
      [...reply.desired].map(([key, manifest]) => [key, applied(key, manifest, observed.get(key), options)]),
    );
    const status = { ...reply.status, conditions: reply.conditions };
    if (isDeepStrictEqual(next, observed) && isDeepStrictEqual(status, spoke.status))
      return { spoke, composed: reply.desired, observed, problems: problemsOf(reply) };
    observed = next;
    required = reply.required;
    spoke = { ...spoke, status };
  }
  throw new Error(
    `Spoke ${spoke.metadata.name} still changes after ${mostSteps} reconciliations of the composition function`,
  );
}
