import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { providerPolicies } from "../../../lib/iam/crossplane.ts";
import { databaseName, databaseSubnets } from "../../../lib/iam/databases.ts";
import { deployerPolicies, managedPolicies } from "../../../lib/iam/deployer.ts";
import { arns, policy } from "../../../lib/iam/policy.ts";
import { volumeDriverPolicy } from "../../../lib/iam/roles.ts";
import { spokeCrossplanePolicy, tenantBoundary } from "../../../lib/iam/tenants.ts";
import { identityTag } from "../../../lib/labels.ts";
import { crossplaneServices } from "../../../lib/names.ts";
import { type Asker, requestsFor } from "../../support/iam-asked.ts";
import { permits, type Session } from "../../support/iam-effective.ts";
import { matches } from "../../support/iam-evaluator.ts";
import { applicationActions, compositionKinds, programKinds, tenantKinds } from "../../support/iam-kinds.ts";
import { crossplaneRights } from "../../support/iam-policies.ts";
import { actionsOf } from "../../support/iam-reference.ts";
import { account, databasesOf, databaseTags, iam, role, spokeTags } from "./estate.ts";

type Row = Readonly<Record<string, readonly string[]>> & { readonly not?: Readonly<Record<string, string>> };
const table: Readonly<Record<string, Row>> = parse(readFileSync(new URL("asked.yaml", import.meta.url), "utf8"));

/** Actions that a kind asks for, without those that only a source asks for. */
const askedBy = (kind: string): readonly string[] =>
  Object.entries(table[kind] ?? {}).flatMap(([source, actions]) => (source === "not" ? [] : (actions as string[])));
const notAskedBy = (kind: string): readonly string[] =>
  Object.values(table[kind]?.not ?? {}).flatMap((actions) => actions.split(/\s+/));

const named = arns(account);
const boundaryArn = iam("policy/fleet-boundary");
const tenantBoundaryArn = iam("policy/fleet-tenant-boundary");
const ofHub = { ...account, fleet: "fleet", dnsSuffix: "amazonaws.com" };
const deployerBoundary = iam("policy/platform");

const deployer = (permissionsBoundary?: string): Session => ({
  roleArn: role("deployer"),
  tags: {},
  policy: policy(
    ...Object.values(
      deployerPolicies({
        // The key of the requests, as the stack has accounts.
        ...{ ...ofHub, grafana: "AWS_SSO", secretsKeyArn: named.kmsKey("x") },
        ...(permissionsBoundary === undefined ? {} : { permissionsBoundary }),
      }),
    ).flatMap(({ Statement }) => Statement),
  ),
});
const hubTags = { "fleet.internal/fleet": "fleet", "fleet.internal/cluster": "hub" };
const onHub: Asker = {
  cluster: "fleet-hub",
  tags: hubTags,
  roles: {
    "": ["cluster", "node", "crossplane-iam", "kustomize-controller", "grafana"].map((name) =>
      role(`fleet-hub-${name}`),
    ),
    "eks/cluster": [role("fleet-hub-cluster")],
    "eks/nodegroup": [role("fleet-hub-node")],
    "eks/podidentityassociation": [
      ...["crossplane-iam", "kustomize-controller", "helm-controller", "prometheus", "cluster-api", "argocd"],
    ].map((name) => role(`fleet-hub-${name}`)),
    "grafana/workspace": [role("fleet-hub-grafana")],
  },
  names: {
    alias: "alias/fleet-hub-cluster",
    policy: "policy/fleet-boundary",
    Secret: "secret:fleet/git/gitops-system-AbCdEf",
  },
  attached: [...managedPolicies.cluster, ...managedPolicies.node].map(named.managedPolicy),
};

const ofCrossplane = {
  ...ofHub,
  spokePrefix: "fleet-spoke-",
  boundaryArn,
  hubOidcProviderArn: iam("oidc-provider/oidc.eks.us-east-1.amazonaws.com/id/HUB"),
};
const crossplane: Session = {
  roleArn: role("fleet-hub-crossplane"),
  tags: hubTags,
  policy: crossplaneRights(ofCrossplane),
};
/** Kinds of which a Spoke is composed, of one provider. */
const kindsOfService = (service: string) =>
  new Set(
    [...compositionKinds()].filter((kind) => kind.startsWith(service === "logs" ? "cloudwatchlogs/" : `${service}/`)),
  );
const onSpoke: Asker = {
  cluster: "fleet-spoke-blue",
  tags: spokeTags("blue"),
  roles: {
    "": ["cluster", "node", "crossplane"].map((name) => role(`fleet-spoke-blue-${name}`)),
    "eks/cluster": [role("fleet-spoke-blue-cluster")],
    "eks/nodegroup": [role("fleet-spoke-blue-node")],
  },
  names: { alias: "alias/fleet-spoke-blue" },
  boundary: boundaryArn,
  attached: [...managedPolicies.cluster, ...managedPolicies.node, volumeDriverPolicy].map(named.managedPolicy),
};

const databases = databasesOf("fleet-spoke-blue");
const spokeCrossplane: Session = {
  roleArn: role("fleet-spoke-blue-crossplane"),
  tags: { ...spokeTags("blue"), [identityTag]: "crossplane", ...databaseTags("fleet-spoke-blue") },
  policy: spokeCrossplanePolicy({
    ...account,
    cluster: "fleet-spoke-blue",
    tenantBoundaryArn,
    buckets: true,
    databases: { prefix: databases, removal: false },
  }),
  boundary: spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn }),
};
const forTenants: Asker = {
  cluster: "fleet-spoke-blue",
  tags: spokeTags("blue"),
  roles: { "": [role("fleet-spoke-blue_payment")] },
  names: {
    table: "table/fleet-spoke-blue_payment_orders",
    stream: "table/fleet-spoke-blue_payment_orders/stream/x",
    queue: "fleet-spoke-blue_payment_events",
    bucket: "fleet-spoke-blue--payment--files-000000000000",
    db: `db:${databaseName(databases, "payment", "orders")}`,
    snapshot: `snapshot:${databaseName(databases, "payment", "orders")}-final`,
    subgrp: `subgrp:${databaseSubnets(databases)}`,
    og: "og:default:postgres-17",
    pg: "pg:default.postgres17",
  },
  boundary: tenantBoundaryArn,
  // Nothing is attached; a role that is removed with force looks for attachments all the same.
  attached: [],
};

/** Actions that a policy allows and no kind asks for, with the reason. */
const unasked: Readonly<Record<string, string>> = {
  "ec2:Describe*": "what is described can't be named, and one pattern takes the room of thirty names",
  "iam:PutRolePermissionsBoundary":
    "the deployer's own: a hub gets a boundary, or another one, by the stack's configuration",
  "iam:DeleteRolePermissionsBoundary": "the deployer's own: it takes the stack's boundary off again",
  "ec2:DeleteSecurityGroup":
    "GuardDuty's group, by its tag: the AWS provider deletes it where it blocks the deletion of a VPC",
  "dynamodb:Describe*": "what is told of a table of one's own",
  "s3:GetBucket*": "how a bucket of one's own is set",
  "s3:Get*Configuration": "how a bucket of one's own is set",
  "eks:ListClusters": "the program compares the hub's block of Services with the stack's (components/service-block.ts)",
  "eks:ListNodegroups": "among the calls on a cluster one pattern takes less room",
};

let hubKinds: ReadonlySet<string>;
beforeAll(async () => {
  hubKinds = await programKinds();
  // A ceiling, not a measure: it loads the provider SDKs, on machines that do other things too.
}, 120_000);

interface Case {
  readonly session: Session;
  readonly asker: Asker;
  readonly kinds: () => ReadonlySet<string>;
  /** What its kinds ask for elsewhere only. */
  readonly never?: readonly string[];
}
const cases: Readonly<Record<string, Case>> = {
  deployer: { session: deployer(), asker: onHub, kinds: () => hubKinds },
  "deployer with a boundary": {
    session: deployer(deployerBoundary),
    asker: { ...onHub, boundary: deployerBoundary },
    kinds: () => hubKinds,
  },
  "Crossplane of the hub in another account": { session: crossplane, asker: onSpoke, kinds: compositionKinds },
  ...Object.fromEntries(
    Object.entries(providerPolicies(ofCrossplane)).map(([service, policy]) => [
      `Crossplane's provider for ${service} on the hub`,
      {
        session: { roleArn: role(`fleet-hub-crossplane-${service}`), tags: hubTags, policy },
        asker: onSpoke,
        kinds: () => kindsOfService(service),
      },
    ]),
  ),
  "Crossplane on a spoke": {
    ...{ session: spokeCrossplane, asker: forTenants, kinds: tenantKinds },
    // Roles of applications are in no instance profile.
    never: ["iam:RemoveRoleFromInstanceProfile"],
  },
};

describe.each(Object.entries(cases))("%s", (_name, { session, asker, kinds, never = [] }) => {
  it("makes kinds that the table knows, and no other", () => {
    expect([...kinds()].filter((kind) => askedBy(kind).length === 0)).toEqual([]);
    expect(kinds().size).toBeGreaterThan(0);
  });

  it("may do all that AWS asks for these kinds, with the fleet's arguments", async () => {
    const refused: string[] = [];
    for (const kind of kinds())
      for (const action of askedBy(kind).filter((each) => !never.includes(each))) {
        const requests = await requestsFor(asker, kind, action);
        if (requests.length === 0 && action !== "iam:DetachRolePolicy")
          refused.push(`${kind}: nothing to call ${action} on`);
        for (const request of requests)
          if (!permits(session, request)) refused.push(`${kind}: ${JSON.stringify(request)}`);
      }
    expect(refused).toEqual([]);
  });

  it("may do nothing that no kind asks for, but for the reasons that are listed", async () => {
    const asked = new Set([...kinds()].flatMap(askedBy));
    const patterns = session.policy.Statement.filter(({ Effect }) => Effect === "Allow").flatMap(
      ({ Action = [] }) => Action,
    );
    const allowed = (await Promise.all(patterns.map(actionsOf))).flat();
    const open = allowed.filter(
      (action) => !asked.has(action) && !Object.keys(unasked).some((pattern) => matches(pattern, action)),
    );
    expect([...new Set(open)].sort()).toEqual([]);
  });
});

it("every kind of which a Spoke is composed is that of a provider with a role", () => {
  const known = crossplaneServices.flatMap((service) => [...kindsOfService(service)]);
  expect(known.sort()).toEqual([...compositionKinds()].sort());
});

describe("the table", () => {
  it("has only kinds that somebody makes, and actions that AWS has, each on one side", async () => {
    const made = new Set([...hubKinds, ...compositionKinds(), ...tenantKinds()]);
    expect(Object.keys(table).filter((kind) => !made.has(kind))).toEqual([]);
    for (const kind of Object.keys(table)) {
      const [asked, not] = [askedBy(kind), notAskedBy(kind)];
      for (const action of [...asked, ...not]) expect(await actionsOf(action), action).toEqual([action]);
      expect(
        asked.filter((action) => not.includes(action)),
        kind,
      ).toEqual([]);
      expect(new Set(asked).size, kind).toBe(asked.length);
    }
  });
});

describe("an application", () => {
  it("gets what its template gives it, and could get nothing else", async () => {
    const most = tenantBoundary(account).Statement.flatMap(({ Action = [] }) => Action);
    expect([...most].sort()).toEqual([...applicationActions()].sort());
  });
});
