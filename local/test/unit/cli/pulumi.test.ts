import { expect, test } from "vitest";
import { overrides, policyOverrides, shellEnvironment } from "../../../cli/pulumi.ts";
import { instanceAt } from "../../../instance/index.ts";

const facts = {
  git: { values: { gitKnownHosts: "[git.fleet.internal]:2222 ssh-ed25519 AAAA" }, secrets: { gitToken: "t0ps3cret" } },
  gitHost: "git.fleet.internal",
  mirrors: { values: { chartsRegistry: "https://100.64.255.1/charts" }, secrets: {} },
  chartsHost: "charts.fleet.internal",
};

test("a stack on the instance's Git server and chart mirror gets the host key and the address of these", () => {
  const config = {
    "eks-gitops-fleet:gitopsSystemRepoUrl": "ssh://git@git.fleet.internal:2222/gitops-system.git",
    "eks-gitops-fleet:chartsRegistry": "https://charts.fleet.internal",
  };
  expect(overrides(config, facts)).toEqual({
    "eks-gitops-fleet:gitKnownHosts": facts.git.values.gitKnownHosts,
    "eks-gitops-fleet:chartsRegistry": facts.mirrors.values.chartsRegistry,
  });
});

test("a stack for AWS keeps its values; only the accounts that it may run in become the emulated one", () => {
  const config = {
    "aws:allowedAccountIds": ["111111111111"],
    "eks-gitops-fleet:gitopsSystemRepoUrl": "ssh://git@github.com/example/gitops-system.git",
    "eks-gitops-fleet:gitKnownHosts": "github.com ssh-ed25519 AAAA",
  };
  expect(overrides(config, facts)).toEqual({ "aws:allowedAccountIds": ["000000000000"] });
});

test("a public endpoint that still names a sample's network names this machine instead, beside the networks that are real", () => {
  const cidrs = "eks-gitops-fleet:endpointPublicAccessCidrs";
  expect(overrides({ [cidrs]: ["203.0.113.0/24", "5.6.7.0/24"] }, facts)).toEqual({
    [cidrs]: ["1.2.3.4/32", "5.6.7.0/24"],
  });
  expect(overrides({ [cidrs]: ["5.6.7.0/24", "10.0.0.0/8", "office"] }, facts)).toEqual({});
});

test("a private endpoint that still names a sample's network names a connected one instead", () => {
  const cidrs = "eks-gitops-fleet:endpointPrivateAccessCidrs";
  expect(overrides({ [cidrs]: ["192.0.2.0/24", "10.1.0.0/16"] }, facts)).toEqual({
    [cidrs]: ["10.20.0.0/16", "10.1.0.0/16"],
  });
  expect(overrides({ [cidrs]: ["10.1.0.0/16"] }, facts)).toEqual({});
});

test("networks are read as the program reads them: `pulumi config set` without --path writes JSON, and what is not a list stays", () => {
  const cidrs = "eks-gitops-fleet:endpointPublicAccessCidrs";
  expect(overrides({ [cidrs]: '["203.0.113.0/24","5.6.7.0/24"]' }, facts)).toEqual({
    [cidrs]: ["1.2.3.4/32", "5.6.7.0/24"],
  });
  for (const value of ["203.0.113.0/24", "[", { secure: "v1:a:b" }, ["203.0.113.0/24", 7], null, 7])
    expect(overrides({ [cidrs]: value }, facts)).toEqual({});
});

test("the policy pack allows the instance's chart mirror to a stack that uses it, and to no other", () => {
  expect(policyOverrides({ "eks-gitops-fleet:chartsRegistry": "https://charts.fleet.internal" }, facts)).toEqual({
    "kubernetes-helm-registries": { registries: [facts.mirrors.values.chartsRegistry] },
  });
  expect(policyOverrides({ "eks-gitops-fleet:chartsRegistry": "https://charts.example.com" }, facts)).toEqual({});
  expect(policyOverrides({}, facts)).toEqual({});
});

test("fleet gets the real kubectl for kustomize, which it can confine, and not the instance's script", () => {
  const instance = instanceAt("/instance", 0);
  const { FLEET_KUSTOMIZE, FLEET_LOCAL_DIR } = shellEnvironment(instance, (name) => `/toolchain/${name}`);
  expect({ FLEET_KUSTOMIZE, FLEET_LOCAL_DIR }).toEqual({
    FLEET_KUSTOMIZE: "/toolchain/kubectl",
    FLEET_LOCAL_DIR: "/instance",
  });
});
