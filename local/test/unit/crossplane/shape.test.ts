import { describe, expect, test } from "vitest";
import { differenceOf } from "../../../aws/difference.ts";
import { allKinds } from "../../../crossplane/provider-aws/kinds.ts";
import { atProvider, inputsOf, mergeSpec, recorded } from "../../../crossplane/provider-aws/shape.ts";

const kindOf = (group: string, name: string) => {
  const found = allKinds.find((kind) => kind.group === group && kind.kind === name);
  if (!found) throw new Error(`no kind ${group}/${name}`);
  return found;
};

describe("a specification as a handler takes it", () => {
  test("has the handler's names, Terraform's defaults and all tags", () => {
    const spec = {
      region: "us-east-1",
      clusterName: "c",
      clusterNameRef: { name: "c" },
      taint: [{ key: "k", effect: "NO_SCHEDULE" }],
      tags: { a: "b" },
    };
    expect(inputsOf(kindOf("eks", "NodeGroup"), spec)).toEqual({
      region: "us-east-1",
      clusterName: "c",
      taints: [{ key: "k", effect: "NO_SCHEDULE" }],
      tags: { a: "b" },
      tagsAll: { a: "b" },
    });
    expect(inputsOf(kindOf("iam", "Role"), {})).toMatchObject({ path: "/", maxSessionDuration: 3600 });
  });

  test("fills defaults into blocks that are there", () => {
    const inputs = inputsOf(kindOf("eks", "Cluster"), { vpcConfig: { subnetIds: ["a"] } });
    expect(inputs["vpcConfig"]).toEqual({ subnetIds: ["a"], endpointPrivateAccess: false, endpointPublicAccess: true });
  });

  test("takes from initProvider what forProvider leaves open, in blocks too", () => {
    expect(mergeSpec({ a: 1, block: { x: 1, y: 1 } }, { b: 2, block: { y: 2 } })).toEqual({
      a: 1,
      b: 2,
      block: { x: 1, y: 2 },
    });
  });
});

describe("what AWS says as status.atProvider has it", () => {
  test("shows the CA and the issuer of a cluster where upstream shows them", () => {
    const actual = {
      name: "c",
      certificateAuthority: { data: "Q0E=" },
      identities: [{ oidcs: [{ issuer: "https://i" }] }],
      vpcConfig: { subnetIds: ["s"], vpcId: "v" },
      tagsAll: { a: "b" },
    };
    const status = atProvider(kindOf("eks", "Cluster"), "c", actual, "us-east-1");
    expect(status).toEqual({
      id: "c",
      region: "us-east-1",
      certificateAuthority: [{ data: "Q0E=" }],
      identity: [{ oidc: [{ issuer: "https://i" }] }],
      vpcConfig: { subnetIds: ["s"], vpcId: "v" },
      tags: { a: "b" },
      tagsAll: { a: "b" },
    });
    expect(recorded(kindOf("eks", "Cluster"), status)).toMatchObject({ certificateAuthority: { data: "Q0E=" } });
  });

  test("has numbers where the schema has numbers", () => {
    const status = atProvider(kindOf("ec2", "LaunchTemplate"), "lt", { latestVersion: "3" }, "r");
    expect(status["latestVersion"]).toBe(3);
  });
});

describe("the difference between wanted and actual", () => {
  const kind = kindOf("eks", "Cluster");
  const names = ["vpcConfig", "version", "accessConfig", "enabledClusterLogTypes", "roleArn", "tagsAll"];
  const actual = {
    version: "1.34",
    roleArn: "arn:r",
    enabledClusterLogTypes: ["audit", "api"],
    accessConfig: { authenticationMode: "API" },
    vpcConfig: { subnetIds: ["b", "a"], endpointPublicAccess: true, clusterSecurityGroupId: "sg", vpcId: "v" },
    tagsAll: {},
  };

  test("is none in order, completed blocks and what AWS fills in", () => {
    const wanted = {
      roleArn: "arn:r",
      enabledClusterLogTypes: ["api", "audit"],
      vpcConfig: { subnetIds: ["a", "b"] },
      tagsAll: {},
    };
    expect(differenceOf(kind.handler, names, wanted, actual).changed).toEqual([]);
  });

  test("names what changed, what can't be changed, and has both sides in the same form", () => {
    const wanted = {
      version: "1.35",
      roleArn: "arn:other",
      enabledClusterLogTypes: ["api"],
      vpcConfig: { subnetIds: ["a", "b"], endpointPublicAccess: false },
      tagsAll: { a: "b" },
    };
    const { changed, immutable, before, after } = differenceOf(kind.handler, names, wanted, actual);
    expect([...changed].sort()).toEqual(["enabledClusterLogTypes", "roleArn", "tagsAll", "version", "vpcConfig"]);
    expect(immutable).toEqual(["roleArn"]);
    expect(before["vpcConfig"]).toEqual({ subnetIds: ["b", "a"], endpointPublicAccess: true });
    expect(before["accessConfig"]).toEqual(after["accessConfig"]);
  });

  test("sees what was taken out of the specification", () => {
    const role = kindOf("iam", "Role").handler;
    const wanted = { name: "r", assumeRolePolicy: "{}", path: "/", maxSessionDuration: 3600 };
    const changed = differenceOf(role, ["description", "permissionsBoundary", "path"], wanted, {
      ...wanted,
      description: "old",
      permissionsBoundary: "arn:b",
    }).changed;
    expect(changed).toEqual(["description", "permissionsBoundary"]);
  });
});
