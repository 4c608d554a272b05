import type { KubeObject } from "../../functions/spoke/kube.ts";
import { namespaces } from "../../lib/names.ts";
import { saidOf } from "../list/rows.ts";
import { transition } from "../rollouts/state.ts";
import { remedyOf } from "../why/remedies.ts";
import { stateOf, written } from "./applications.ts";
import { type Attention, type Key, type SpokeReport, states } from "./model.ts";

/** What is not well, the most urgent first. */

/** Whose everything is that no tenant has. */
const platform = "platform";

const nobodys = { environment: undefined, ring: undefined, tenant: undefined };

function ofSpoke(spoke: SpokeReport): Attention[] {
  const { name, environment, ring, tenant, state, message, unreached, since, applications = [] } = spoke;
  const of = { environment, ring, tenant };
  const own: Attention[] =
    state === "well"
      ? []
      : [
          {
            ...{ ...of, state, what: `spoke ${name}`, owner: tenant, command: `fleet why ${name}` },
            ...(state === "unknown"
              ? {
                  says: `its API server was not reached: ${unreached}`,
                  since: undefined,
                  remedy: "docs/guides/clusters.md#reach-a-cluster-with-kubectl says what it takes",
                }
              : { says: message ?? "it is not Ready", since, remedy: undefined }),
          },
        ];
  const broken = applications.flatMap(({ name: application, state: its, says, since, owner, remedy }): Attention[] =>
    its === "well"
      ? []
      : [
          {
            ...{ ...of, state: its, what: `application ${application} on ${name}`, says: says ?? "not begun", since },
            ...{ owner, command: `fleet why ${name}/${application}`, remedy },
          },
        ],
  );
  return [...own, ...broken];
}

/** What Flux on the hub can't fetch or apply. */
function ofHub(object: KubeObject): Attention[] {
  const state = stateOf([object]);
  const { kind, metadata } = object;
  if (state === "well") return [];
  return [
    {
      ...{ ...nobodys, state, what: `${kind} ${metadata.name} on the hub`, owner: platform },
      ...{ says: saidOf(object), since: written(transition(object, "Ready")) },
      command: `kubectl -n ${namespaces.flux} describe ${kind.toLowerCase()} ${metadata.name}`,
      remedy: remedyOf({ side: "hub", object }),
    },
  ];
}

/** How long before its end a key is worth a thought: making a new one takes a pull request and `pulumi up`. */
const EARLY = 30 * 24 * 60 * 60_000;

function ofKey({ name, scope, ends, use }: Key, now: number): Attention[] {
  const left = ends === undefined ? Number.POSITIVE_INFINITY : Date.parse(ends) - now;
  if (left > EARLY || use !== "seals") return [];
  return [
    {
      ...{ ...nobodys, state: left < 0 ? "failing" : "due", what: name, owner: platform },
      ...{ says: `its certificate ${left < 0 ? "ended" : "ends"} on ${ends?.slice(0, 10)}`, since: undefined },
      ...{ command: `fleet rotate-key ${scope}`, remedy: "See docs/guides/secrets.md#rotate-keys" },
    },
  ];
}

interface Looked {
  readonly spokes: readonly SpokeReport[];
  /** Sources and Kustomizations of Flux on the hub. */
  readonly flux: readonly KubeObject[];
  readonly keys: readonly Key[];
  /** Why what Spokes say may be out of date. */
  readonly frozen: string | undefined;
  readonly now: number;
}

/** Within a state what has been so for longest comes first, and last what says no time. */
export function attentionIn({ spokes, flux, keys, frozen, now }: Looked): Attention[] {
  const crossplane: Attention[] =
    frozen === undefined
      ? []
      : [
          {
            ...{ ...nobodys, state: "failing", what: "the hub", owner: platform, since: undefined },
            says: `${frozen}. What Spokes say may be out of date`,
            command: `kubectl -n ${namespaces.crossplane} get pods`,
            remedy: "See docs/guides/troubleshooting.md",
          },
        ];
  const all = [
    ...crossplane,
    ...flux.flatMap(ofHub),
    ...keys.flatMap((key) => ofKey(key, now)),
    ...spokes.flatMap(ofSpoke),
  ];
  const urgency = ({ state }: Attention): number => states.indexOf(state);
  const begun = ({ since }: Attention): number => (since === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(since));
  return all.sort((a, b) => urgency(a) - urgency(b) || begun(a) - begun(b));
}
