import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { addonBoundary, isAddonAction } from "../../lib/iam/addons.ts";
import * as fixtures from "../functions/spoke/support/fixtures.ts";
import { addons, catalogue, offeredIn, rolePatches } from "../support/addon-catalogue.ts";
import { allowed, policyLength } from "../support/iam.ts";
import { referenceProblems } from "../support/iam-reference.ts";
import { committedConfig } from "../support/program.ts";
import { arn, rightsOf, roleOn } from "./support/addon-role.ts";
import { build, documents } from "./support/kustomize.ts";
import { render, system, withAddons } from "./support/spoke.ts";

/** What the local stack permits. */
const localPermissions = parse(committedConfig("local")["eks-gitops-fleet:addonPermissions"] ?? "[]").map(
  (permission: object) => ({ resources: ["*"], ...permission }),
);
const withRole = Object.keys(rolePatches);
/** notifications is two objects among the tools themselves (test/repos/notifications.test.ts). */
const installed = addons.filter((addon) => addon !== "notifications");
/** What the others are made of: no chart has it, or it can't be built here. */
const madeOf: Readonly<Record<string, string>> = {
  karpenter_nodes: "NodePool",
  prometheus: "Deployment",
  rds_instances: "Provider",
  s3_buckets: "Provider",
};
/** Service accounts whose names the charts have no value for. */
const named: Readonly<Record<string, string>> = { image_automation: "image-reflector-controller" };
const withChart = (addon: string) => existsSync(join(catalogue, addon, "release", "release.yaml"));
const environments = ["dev", "prod"] as const;
const example = { dev: "minimal", prod: "production" } as const;
const dashed = (addon: string) => addon.replaceAll("_", "-");
const page = (addon: string) => readFileSync(join(catalogue, addon, "README.md"), "utf8");

describe("the catalogue of add-ons", () => {
  test("is the same in every environment, but for what commits images, which only dev offers", () => {
    expect(offeredIn("dev")).toEqual(addons);
    expect(offeredIn("prod")).toEqual(addons.filter((addon) => addon !== "image_automation"));
  });

  test.for(fixtures.exampleNames)("has the add-ons of the example %s", (name) => {
    const { environment, addons: asked = [] } = fixtures.example(name).spec;
    for (const addon of asked) expect(offeredIn(environment)).toContain(addon);
  });

  const offered = (environment: string) => installed.filter((addon) => offeredIn(environment).includes(addon));
  test.for(environments.flatMap((environment) => offered(environment).map((addon) => [addon, environment] as const)))(
    "has %s for %s, with one Kustomization of its name that is removed before the tools are",
    ([addon, environment]) => {
      const rendered = render(withAddons(example[environment], [addon]));
      const own = rendered
        .by("tools")
        .find(({ kind, metadata }) => kind === "Kustomization" && metadata.name === dashed(addon));
      expect(own?.spec).toMatchObject({ wait: true, prune: true, deletionPolicy: "WaitForTermination" });
      const kinds = rendered.by(dashed(addon)).map(({ kind }) => kind);
      expect(kinds).toContain(madeOf[addon] ?? "HelmRelease");
    },
  );

  test.for(withRole)("%s has a page that says what it may do and what to remove first", (addon) => {
    const text = page(addon);
    for (const heading of [withChart(addon) ? "Chart" : "Manifests", "In AWS", "Health", "Before you turn it off"])
      expect(text).toContain(`| ${heading} |`);
    const actions = rolePatches[addon]?.flatMap(({ value }) => value.policy.flatMap(({ Action }) => Action)) ?? [];
    expect(actions.length).toBeGreaterThan(0);
    for (const action of actions) expect(text.split("`addonPermissions`")[1]).toContain(action);
  });

  test("hands every role in its folders to the Composition, and no other", () => {
    const composition = build(join(system, "platform", "composition")).find(({ kind }) => kind === "Composition");
    const input = composition?.spec.pipeline[0].input;
    expect(Object.keys(input.addons).sort()).toEqual(withRole);
    for (const addon of withRole) expect(input.addons[addon]).toEqual(rolePatches[addon]?.[0]?.value);
  });

  test.for(withRole)(
    "%s names only actions that a stack may permit, and has its role where the stack permits these",
    (addon) => {
      const boundary = addonBoundary(
        { partition: "aws", accountId: "000000000000", region: "us-east-1", fleet: "fleet" },
        [...localPermissions, { actions: ["aps:RemoteWrite"], resources: [fixtures.hub.metricsWorkspaceArn] }],
      );
      const context = { "aws:RequestedRegion": "us-east-1", "aws:PrincipalTag/eks-cluster-name": "fleet-spoke-blue" };
      for (const { Action = [], Resource = [] } of roleOn(addon).policy.Statement)
        for (const action of Action) {
          expect(isAddonAction(action), action).toBe(true);
          for (const resource of Resource)
            expect(allowed(boundary, { action, resource, context }), `${action} on ${resource}`).toBe(true);
        }
    },
  );

  test.for(withRole)(
    "%s has a role that says only what AWS knows and lets count, with room to spare",
    async (addon) => {
      const { policy } = roleOn(addon);
      const named = policy.Statement.map((statement, index) => ({ Sid: `${index}`, ...statement }));
      expect(await referenceProblems({ ...policy, Statement: named })).toEqual([]);
      // All inline policies of a role together (IAM User Guide, "IAM and AWS STS quotas").
      expect(policyLength(policy)).toBeLessThanOrEqual(10_240 * 0.9);
    },
  );

  test.for(withRole.filter(withChart))("%s runs as the service account that its role trusts", (addon) => {
    const rendered = render(withAddons("minimal", [addon]));
    const [patch] = rolePatches[addon] ?? [];
    const values = rendered
      .by(dashed(addon))
      .find(({ kind, metadata }) => kind === "ConfigMap" && metadata.name === `${dashed(addon)}-values`);
    const text = String(values?.["data"]?.["values.yaml"]);
    if (addon in named) expect(patch?.value.serviceAccount).toBe(named[addon]);
    else expect(text).toContain(`name: ${patch?.value.serviceAccount}\n`);
    expect(text).toContain(
      `eks.amazonaws.com/role-arn: arn:aws:iam::000000000000:role/fleet-spoke-blue-addon-${dashed(addon)}`,
    );
    const release = rendered.by(dashed(addon)).find(({ kind }) => kind === "HelmRelease");
    expect(release?.spec.targetNamespace).toBe(patch?.value.namespace);
  });

  test.for(withRole.filter(withChart))(
    "%s takes its values from every cluster's, then the environment's, then the cluster's own",
    (addon) => {
      const release = render(withAddons("minimal", [addon]))
        .by(dashed(addon))
        .find(({ kind }) => kind === "HelmRelease");
      expect(release?.spec.valuesFrom).toEqual([
        { kind: "ConfigMap", name: `${dashed(addon)}-values` },
        { kind: "ConfigMap", name: `${dashed(addon)}-values-environment`, optional: true },
        { kind: "ConfigMap", name: `${dashed(addon)}-values-cluster`, optional: true },
      ]);
      expect(release?.spec.values).toBeUndefined();
    },
  );

  test("has a version of every chart in every environment", () => {
    for (const environment of environments) {
      const [versions] = documents(join(system, "tools", environment, "versions.yaml"));
      for (const addon of withRole)
        expect(versions?.spec.postBuild.substitute, environment).toHaveProperty(`${addon}_version`);
    }
  });

  test("leaves the releases out of what the hub reads, so that another value of an add-on reconciles nothing there", () => {
    const [platform] = documents(join(system, "platform", "hub", "artifacts.yaml"));
    const copy = platform?.spec.artifacts
      .find(({ name }: { name: string }) => name === "platform")
      .copy.find(({ from }: { from: string }) => from.includes("tools/base/addons"));
    expect(copy.exclude).toEqual(["tools/base/addons/*/release"]);
    for (const addon of addons.filter((name) => existsSync(join(catalogue, name, "role"))))
      expect(existsSync(join(catalogue, addon, "release"))).toBe(true);
  });
});

describe("image automation", () => {
  test("lists tags of repositories of any account, which their policies and addonPermissions narrow, and reads no image", () => {
    const may = rightsOf("image_automation");
    const elsewhere = "arn:aws:ecr:us-east-1:111111111111:repository/shop";
    for (const repository of [arn("ecr", "repository/shop"), elsewhere])
      expect(may("ecr:ListImages", repository), repository).toBe(true);
    expect(may("ecr:GetAuthorizationToken", "*")).toBe(true);
    for (const action of ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer", "ecr:PutImage", "ecr:BatchDeleteImage"])
      expect(may(action, arn("ecr", "repository/shop")), action).toBe(false);
  });
});

describe("the AWS Load Balancer Controller", () => {
  const tag = "elbv2.k8s.aws/cluster";
  const balancer = arn("elasticloadbalancing", "loadbalancer/app/shop/1");
  const listener = arn("elasticloadbalancing", "listener/app/shop/1/2");
  const targets = arn("elasticloadbalancing", "targetgroup/shop/3");
  const group = arn("ec2", "security-group/sg-1");
  const may = rightsOf("aws_load_balancer_controller");

  test.for([
    ["elasticloadbalancing:DeleteLoadBalancer", balancer],
    ["elasticloadbalancing:SetSecurityGroups", balancer],
    ["elasticloadbalancing:CreateListener", balancer],
    ["elasticloadbalancing:RemoveTags", balancer],
    ["elasticloadbalancing:DeleteListener", listener],
    ["elasticloadbalancing:ModifyListener", listener],
    ["elasticloadbalancing:RegisterTargets", targets],
    ["ec2:DeleteSecurityGroup", group],
    ["ec2:AuthorizeSecurityGroupIngress", group],
    ["ec2:DeleteTags", group],
  ] as const)(
    "may %s of its own cluster's, and neither of another cluster's nor of what has no tag",
    ([action, resource]) => {
      expect(may(action, resource, { [`aws:ResourceTag/${tag}`]: "fleet-spoke-blue" })).toBe(true);
      expect(may(action, resource, { [`aws:ResourceTag/${tag}`]: "fleet-spoke-green" })).toBe(false);
      expect(may(action, resource)).toBe(false);
    },
  );

  test("makes load balancers and security groups for its own cluster only, and gives what it has to no other", () => {
    const asked = (cluster: string) => ({ [`aws:RequestTag/${tag}`]: cluster });
    const own = { [`aws:ResourceTag/${tag}`]: "fleet-spoke-blue" };
    for (const [action, resource] of [
      ["elasticloadbalancing:CreateLoadBalancer", balancer],
      ["elasticloadbalancing:CreateTargetGroup", targets],
      ["ec2:CreateSecurityGroup", group],
    ] as const) {
      expect(may(action, resource, asked("fleet-spoke-blue")), action).toBe(true);
      expect(may(action, resource, asked("fleet-spoke-green")), action).toBe(false);
    }
    for (const [action, resource] of [
      ["elasticloadbalancing:AddTags", balancer],
      ["ec2:CreateTags", group],
    ] as const)
      expect(may(action, resource, { ...own, ...asked("fleet-spoke-green") }), action).toBe(false);
  });

  test("changes the rules of its own cluster security group, and of no other", () => {
    const of = (cluster: string) => ({ [`aws:ResourceTag/kubernetes.io/cluster/${cluster}`]: "owned" });
    expect(may("ec2:AuthorizeSecurityGroupIngress", group, of("fleet-spoke-blue"))).toBe(true);
    expect(may("ec2:AuthorizeSecurityGroupIngress", group, of("fleet-hub"))).toBe(false);
    expect(may("ec2:DeleteSecurityGroup", group, of("fleet-spoke-blue"))).toBe(false);
  });
});
