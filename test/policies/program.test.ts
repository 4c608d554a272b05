import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { policies } from "../../policies/all.ts";
import {
  hasWildcard,
  identityPolicies,
  identityPolicyTypes,
  isEverything,
  statements,
} from "../../policies/lib/iam-documents.ts";
import { exceptions, exceptionsFor } from "../../policies/lib/iam-exceptions.ts";
import { runProject, runStack } from "../support/program.ts";
import { computed } from "../support/program-mocks.ts";
import { evaluate, type Resource } from "./support/evaluate.ts";

/** The configuration of the pack for a stack; none means the defaults of the policies. */
const configurations: Readonly<Record<string, Record<string, object>>> = {
  dev: {},
  prod: {},
  local: JSON.parse(readFileSync(new URL("../../stacks/policies.local.json", import.meta.url), "utf8")),
};

const key = (name: string) => `eks-gitops-fleet:${name}`;
const argocd = {
  [key("argocdClusterSecret")]: "true",
  [key("argocdRoleArn")]: "arn:aws:iam::111111111111:role/argocd",
  [key("argocdHubAdmin")]: "true",
};
// No one's: put together here, so that nobody finds a token by searching the repository.
const token = ["ghp", "0123456789abcdefghijklmnopqrstuvwxyz"].join("_");
const group = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
const ecr = "111111111111.dkr.ecr.us-east-1.amazonaws.com/mirror";
const mirrors = {
  [key("chartsRegistry")]: "oci://ghcr.io/example/charts",
  [key("chartsUsername")]: "fleet",
  [key("chartsPassword")]: token,
  [key("imagesRegistry")]: "ghcr.io/example",
  [key("packagesRegistry")]: "ghcr.io/example",
  [key("functionPackage")]: "ghcr.io/example/function-spoke",
  [key("pullSecret")]: JSON.stringify({ auths: { "ghcr.io/example": { username: "fleet", password: token } } }),
};

test.each<[stack: string, also: string, values: Record<string, string>]>([
  ["dev", "", {}],
  ["dev", " with an Argo CD on it", { [key("argocdClusterSecret")]: "true" }],
  ["dev", " with an Argo CD elsewhere", argocd],
  ["dev", " with an Argo CD for spokes", { [key("argocdClusterSecret")]: "true", [key("argocdSpokes")]: "true" }],
  ["dev", " with an Argo CD elsewhere for spokes", { ...argocd, [key("argocdSpokes")]: "true" }],
  [
    "dev",
    " with spokes in other accounts and regions",
    { [key("accounts")]: '[{"id":"333333333333","scopes":["dev"]}]', [key("spokeRegions")]: '["eu-west-1"]' },
  ],
  ["dev", " with Cluster API", { [key("clusterApi")]: "true" }],
  ["prod", "", {}],
  ["prod", " with mirrors that a token opens", mirrors],
  [
    "prod",
    " with a mirror over HTTPS that a token opens",
    { ...mirrors, [key("chartsRegistry")]: "https://charts.example" },
  ],
  [
    "prod",
    " with Amazon ECR as the only registry",
    { [key("registry")]: ecr, [key("hubWorkloadIdentity")]: "pod-identity" },
  ],
  [
    "prod",
    " with Grafana over its metrics",
    { [key("metrics")]: "amp", [key("grafana")]: "amg", [key("grafanaAdminGroups")]: JSON.stringify([group]) },
  ],
  // The local stack has this from its instance.
  ["local", "", { [key("gitKnownHosts")]: "[git.fleet.internal]:2222 ssh-ed25519 AAAA" }],
])(
  "the shipped program passes as the stack %s%s, also at an update, when everything is known",
  async (stack, _also, values) => {
    const secrets = Object.keys(values).filter((name) => [key("chartsPassword"), key("pullSecret")].includes(name));
    const { resources } = await runStack(stack, values, secrets);
    const inputs: Resource[] = resources.map(({ type, name, inputs: props }) => ({ type, name, props }));
    const outputs = inputs.map(({ type, name = "", props }) => ({
      type,
      name,
      props: { ...props, ...computed(type, name, props) },
    }));
    const chartsRegistry = values[key("chartsRegistry")] ?? (values[key("registry")] && `oci://${ecr}/charts`);
    const configuration: Readonly<Record<string, object>> = {
      ...configurations[stack],
      ...(chartsRegistry ? { "kubernetes-helm-registries": { registries: [chartsRegistry] } } : {}),
    };
    const verdicts = policies.map((policy) => {
      const seen = "validateStack" in policy ? outputs : inputs;
      return { policy: policy.name, ...evaluate(policy, seen, configuration[policy.name]) };
    });
    expect(verdicts.filter(({ violations, putOff }) => violations.length > 0 || putOff !== undefined)).toEqual([]);
    expect(inputs.length).toBeGreaterThan(80);
  },
);

test("the rights in an account besides the hub's are as narrow, by the same exceptions", async () => {
  const { resources } = await runProject("infra/account", {
    "aws:allowedAccountIds": ["222222222222"],
    "eks-gitops-fleet-account:fleet": "fleet",
    "eks-gitops-fleet-account:secretsKeyArn": "arn:aws:kms:us-east-1:111111111111:key/1234",
    "eks-gitops-fleet-account:regions": ["eu-west-1", "eu-west-2"],
  });
  const inputs: Resource[] = resources.map(({ type, name, inputs: props }) => ({ type, name, props }));
  // A boundary on Crossplane's role there is a choice of that stack.
  const ofRights = policies.filter(({ name }) => name.startsWith("iam-") && name !== "iam-permissions-boundary");
  const verdicts = ofRights.map((policy) => ({ policy: policy.name, ...evaluate(policy, inputs, undefined) }));
  expect(verdicts.filter(({ violations }) => violations.length > 0)).toEqual([]);
  expect(verdicts.length).toBeGreaterThan(3);
});

test("every exception on the reasoned list stands for a statement of the program, with just these wildcards", async () => {
  const addonPermissions = JSON.stringify([{ actions: ["ec2:Describe*", "elasticloadbalancing:Describe*"] }]);
  const { resources } = await runStack("prod", {
    "eks-gitops-fleet:addonPermissions": addonPermissions,
    "eks-gitops-fleet:clusterApi": "true",
    [key("registry")]: ecr,
  });
  const held = resources
    .filter(({ type }) => identityPolicyTypes.includes(type))
    .flatMap(({ type, inputs }) => identityPolicies(type, inputs).map((read) => read()))
    .flatMap(({ name, document }) => (statements(document) ?? []).map((statement) => ({ name, statement })));
  for (const exception of exceptions) {
    // Several policies can have a statement of the name; the exception is as wide as one of them.
    const holders = held
      .filter(({ name, statement }) => exceptionsFor([exception], name, statement).length > 0)
      .map(({ statement: { actions = [], resources: named = [] } }) => ({
        actions: actions.filter(hasWildcard).sort(),
        everything: named.some(isEverything),
      }));
    expect(holders, exception.statement).toContainEqual({
      actions: [...(exception.actions ?? [])].sort(),
      everything: exception.allResources ?? false,
    });
  }
});

test("the configurations name only policies and parameters that exist", () => {
  const known = new Map(policies.map(({ name, configSchema }) => [name, Object.keys(configSchema?.properties ?? {})]));
  for (const [id, parameters] of Object.values(configurations).flatMap((config) => Object.entries(config)))
    expect(known.get(id), id).toEqual(expect.arrayContaining(Object.keys(parameters)));
});
