import { describe, expect, it } from "vitest";
import { spokeBoundary } from "../../../lib/iam/boundary.ts";
import { pullerPolicies } from "../../../lib/iam/ecr.ts";
import type { PolicyDocument } from "../../../lib/iam/policy.ts";
import { ecrPlace } from "../../../lib/registries.ts";
import { allowed, asks } from "../../support/iam.ts";
import { account } from "./estate.ts";

const host = "111111111111.dkr.ecr.eu-central-1.amazonaws.com";
const upstream = { chartsRegistry: "", packagesRegistry: "", functionPackage: "ghcr.io/example/function-spoke" };
const policies = (change: Partial<typeof upstream>) =>
  new Map<string, PolicyDocument>(pullerPolicies({ ...upstream, ...change }));
const repository = (name: string) => `arn:aws:ecr:eu-central-1:111111111111:repository/${name}`;
const pulls = ["BatchCheckLayerAvailability", "BatchGetImage", "BatchImportUpstreamImage", "GetDownloadUrlForLayer"];

describe("the roles of controllers that pull from Amazon ECR", () => {
  it("exist for what is in ECR alone", () => {
    const names = (change: Partial<typeof upstream>) => [...policies(change).keys()];
    expect(names({})).toEqual([]);
    expect(names({ chartsRegistry: "oci://registry.example/charts", packagesRegistry: "registry.example" })).toEqual(
      [],
    );
    expect(names({ chartsRegistry: `oci://${host}/charts` })).toEqual(["source_controller"]);
    expect(names({ packagesRegistry: host })).toEqual(["crossplane_packages"]);
    expect(names({ functionPackage: `${host}/function-spoke` })).toEqual(["crossplane_packages"]);
  });

  it("pull from the named repositories, log in, and do nothing else", () => {
    const found = policies({
      chartsRegistry: `oci://${host}/mirror/charts`,
      packagesRegistry: `${host}/mirror`,
      functionPackage: `${host}/own/function-spoke@sha256:${"1".repeat(64)}`,
    });
    const can = (puller: string, action: string, resource: string) =>
      allowed(found.get(puller) as PolicyDocument, asks(`ecr:${action}`, resource));
    for (const action of pulls) {
      expect(can("source_controller", action, repository("mirror/charts/flux2"))).toBe(true);
      expect(can("source_controller", action, repository("mirror/ghcr.io/fluxcd/flux-cli"))).toBe(false);
      expect(can("crossplane_packages", action, repository("mirror/xpkg.crossplane.io/a/b"))).toBe(true);
      expect(can("crossplane_packages", action, repository("own/function-spoke"))).toBe(true);
      expect(can("crossplane_packages", action, repository("own/function-spoke-2"))).toBe(false);
    }
    for (const puller of found.keys()) {
      expect(can(puller, "GetAuthorizationToken", "*")).toBe(true);
      for (const action of ["CreateRepository", "PutImage", "BatchDeleteImage", "ListImages"])
        expect(can(puller, action, repository("mirror/charts/flux2"))).toBe(false);
    }
  });

  it("name every repository of a registry without a path, and the partition of its region", () => {
    const resources = (chartsRegistry: string) =>
      policies({ chartsRegistry }).get("source_controller")?.Statement.at(-1)?.Resource;
    expect(resources(`oci://${host}`)).toEqual([repository("*")]);
    expect(resources("oci://111111111111.dkr.ecr.cn-north-1.amazonaws.com.cn/charts")).toEqual([
      "arn:aws-cn:ecr:cn-north-1:111111111111:repository/charts/*",
    ]);
  });

  it("stay within the boundary of a spoke's roles, which lets them pull in the fleet's region", () => {
    const boundary = spokeBoundary({ ...account, fleet: "fleet", tenantBoundaryArn: "arn:aws:iam::0:policy/tenants" });
    const can = (action: string, region: string) =>
      allowed(
        boundary,
        asks(`ecr:${action}`, action === "GetAuthorizationToken" ? "*" : repository("mirror/charts/flux2"), {
          "aws:PrincipalTag/eks-cluster-name": "fleet-spoke-blue",
          "aws:RequestedRegion": region,
        }),
      );
    for (const action of [...pulls, "GetAuthorizationToken"]) {
      expect(can(action, account.region), action).toBe(true);
      expect(can(action, "eu-west-3"), action).toBe(false);
    }
  });
});

describe("ecrPlace", () => {
  it.each([
    [`${host}/mirror`, "eu-central-1", "mirror"],
    [`oci://${host}`, "eu-central-1", ""],
    ["https://111111111111.dkr.ecr-fips.us-gov-west-1.amazonaws.com/a/b", "us-gov-west-1", "a/b"],
    ["111111111111.dkr-ecr.eu-west-1.on.aws/a", "eu-west-1", "a"],
  ])("reads %s", (registry, region, path) => {
    expect(ecrPlace(registry)).toEqual({ account: "111111111111", region, path });
  });

  it.each(["", "public.ecr.aws/a", "registry.example/111111111111.dkr.ecr.eu-west-1.amazonaws.com"])(
    "finds nothing in %j",
    (registry) => expect(ecrPlace(registry)).toBeUndefined(),
  );
});
