import type { Phase, SpokeStatus } from "./api.ts";
import type { SpokeCondition } from "./conditions.ts";
import type { Context } from "./context.ts";
import { isForeign } from "./foreign.ts";
import { hubAccessType } from "./hub-access.ts";
import { known } from "./kube.ts";
import { nodeGroupStatuses } from "./node-group-status.ts";
import { nodeGroups, oldestNodes } from "./node-groups.ts";
import { isLeftBehind } from "./orphan.ts";
import { controlPlaneFacts } from "./parts/control-plane.ts";
import { isDeleting } from "./parts/guard.ts";
import { egressCidrs } from "./parts/network.ts";
import { runningVersion } from "./plan.ts";
import { resources } from "./resources.ts";
import { attachmentPending } from "./transit-gateway.ts";

/** Facts of the spoke. A fact stays when its resource can't be read for a moment. */
export function facts(context: Context): SpokeStatus {
  const { hubAccess, observed, plan, spoke, names } = context;
  const { status = {} } = spoke;
  const { arn, endpoint, certificateAuthority, issuer } = controlPlaneFacts(context);
  const { groups } = nodeGroups(context);
  const [only, another] = groups;
  const egress = egressCidrs(context);
  const cidr = plan.network.cidr;
  const network = {
    ...status.network,
    ...known({ cidr, vpcId: observed.text(resources.vpc, "id") }),
    ...(egress.length > 0 ? { egressCidrs: egress } : {}),
  };
  return {
    ...known({
      kubernetesVersion: runningVersion(observed) ?? status.kubernetesVersion,
      nodesKubernetesVersion: oldestNodes(observed, groups) ?? status.nodesKubernetesVersion,
      nodesReleaseVersion:
        only === undefined || another !== undefined
          ? undefined
          : (observed.text(only.serving, "releaseVersion") ?? status.nodesReleaseVersion),
    }),
    ...(spoke.spec.nodeGroups === undefined ? {} : { nodeGroups: nodeGroupStatuses(context) }),
    network,
    ...(isLeftBehind(spoke, observed) || (isDeleting(spoke) && isForeign(observed))
      ? { deletionPolicy: "Orphan" as const }
      : {}),
    cluster: {
      ...status.cluster,
      name: names.cluster,
      ...known({
        arn: arn.value,
        endpoint: endpoint.value,
        certificateAuthority: certificateAuthority.value,
        oidcIssuer: issuer.value,
        oidcProviderArn: observed.text(resources.oidcProvider, "arn"),
      }),
    },
    hubAccess: { reason: hubAccess.reason, refused: hubAccess.refused, ...known({ revision: hubAccess.revision }) },
  };
}

const working: Readonly<Record<string, Phase>> = {
  NetworkReady: "Network",
  ControlPlaneReady: "ControlPlane",
  NodesReady: "Nodes",
  AddonsReady: "Nodes",
  IdentitiesReady: "Identities",
  Bootstrapped: "Bootstrap",
  VersionCurrent: "Upgrading",
};

/** Conditions that inform, and don't count for Ready. */
export const informative: readonly string[] = ["Deleting", hubAccessType];

const patient = ["InProgress", "Waiting", "NotRunning", "NotMadeYet", "Throttled", attachmentPending];

/** The phase and the message that people see first: of the first condition that is not as it should be. */
export function summaryOf(conditions: readonly SpokeCondition[]): Pick<SpokeStatus, "phase" | "message"> {
  const deleting = conditions.find(({ type, status }) => type === "Deleting" && status === "True");
  if (deleting) return { phase: "Deleting", message: deleting.message };
  const open = conditions.filter(({ status, type }) => status === "False" && !informative.includes(type));
  const refused = open.find(({ type }) => type === "SpecAccepted");
  if (refused) return { phase: "Refused", message: refused.message };
  const failing = open.find(({ type, reason }) => type !== "VersionCurrent" && !patient.includes(reason));
  if (failing) return { phase: "Failing", message: failing.message };
  // What everything else waits for, and nobody here can hurry.
  const next = open.find(({ reason }) => reason === "NotMadeYet") ?? open[0];
  if (!next) return { phase: "Ready", message: "the spoke runs" };
  return { phase: working[next.type] ?? "Pending", message: next.message };
}
