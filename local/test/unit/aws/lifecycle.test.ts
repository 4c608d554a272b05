import { describe, expect, test } from "vitest";
import {
  AwsResourceError,
  attempt,
  composite,
  finishing,
  type Handler,
  handlerInputs,
  handlers,
  IncompleteError,
  isGone,
  partitionOf,
  stateOf,
  withCallSettings,
} from "../../../aws/index.ts";
import { awsError } from "./fake.ts";

const role = handlers.get("aws:iam/role:Role") as Handler;
const secret = handlers.get("aws:secretsmanager/secret:Secret") as Handler;
const cluster = handlers.get("aws:eks/cluster:Cluster") as Handler;

describe("recorded state", () => {
  test("keeps the user's form of what means the same, and shows what differs", () => {
    const mine = '{ "Version": "2012-10-17", "Statement": [] }';
    const theirs = '{"Statement":[],"Version":"2012-10-17"}';
    const last = { assumeRolePolicy: mine, description: "mine" };
    const state = stateOf(role, { assumeRolePolicy: theirs, description: "theirs" }, last, {});
    expect(state).toEqual({ assumeRolePolicy: mine, description: "theirs" });
  });

  test("keeps inputs that AWS does not give back", () => {
    expect(stateOf(secret, { name: "s" }, { name: "s", recoveryWindowInDays: 7 }, {})).toEqual({
      name: "s",
      recoveryWindowInDays: 7,
    });
  });

  test("keeps the order of sets inside blocks that AWS completes", () => {
    const vpcConfig = { subnetIds: ["b", "a"], vpcId: "vpc-1", clusterSecurityGroupId: "sg-1" };
    const state = stateOf(cluster, { vpcConfig }, { vpcConfig: { subnetIds: ["a", "b"] } }, {});
    expect(state["vpcConfig"]).toEqual({ ...vpcConfig, subnetIds: ["a", "b"] });
  });

  test("tells the user's tags from the provider's default tags", () => {
    const defaults = { team: "platform", stage: "dev" };
    const last = { name: "r", tags: { team: "platform", Name: "r" } };
    const tagsAll = { team: "platform", stage: "dev", Name: "r", manual: "yes" };
    const state = stateOf(role, { name: "r", tagsAll }, last, defaults);
    expect(state["tags"]).toEqual({ team: "platform", Name: "r", manual: "yes" });
    expect(handlerInputs(role, last, defaults)["tagsAll"]).toEqual({ team: "platform", stage: "dev", Name: "r" });
  });
});

describe("errors", () => {
  test("name the operation, the resource, and AWS's code and message", async () => {
    const failing = attempt("create", role, "hub-role", () =>
      Promise.reject(awsError("AccessDenied", "User x is not authorized")),
    );
    await expect(failing).rejects.toThrow("create aws:iam/role:Role hub-role: AccessDenied: User x is not authorized");
    await expect(failing).rejects.toMatchObject({ code: "AccessDenied" });
  });

  test("of a resource that is half made keep its id", async () => {
    const half = () => finishing("i-1", () => Promise.reject(awsError("Throttling", "slow down")));
    const error = await attempt("create", role, "r", half).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(IncompleteError);
    expect((error as IncompleteError).cause).toBeInstanceOf(AwsResourceError);
    expect(error).toMatchObject({ id: "i-1", message: "create aws:iam/role:Role i-1: Throttling: slow down" });
  });

  test("that mean gone are told from others", () => {
    const gone = [
      "InvalidVpcID.NotFound",
      "NoSuchEntity",
      "NoSuchEntityException",
      "ResourceNotFoundException",
      "NotFoundException",
      "NatGatewayNotFound",
      "QueueDoesNotExist",
    ];
    expect(gone.filter((code) => !isGone(awsError(code)))).toEqual([]);
    const others = ["AccessDenied", "InvalidParameterException", "DependencyViolation", "ResourceInUseException"];
    expect(others.filter((code) => isGone(awsError(code)))).toEqual([]);
    expect(isGone(undefined)).toBe(false);
  });
});

test("the id of a new resource is told before it is usable", async () => {
  const heard: string[] = [];
  const made = (id: string) => Promise.resolve(void heard.push(id));
  const creation = withCallSettings({ made }, () => finishing("i-1", () => Promise.reject(new Error("never ready"))));
  await expect(creation).rejects.toThrow("never ready");
  expect(heard).toEqual(["i-1"]);
});

test("a composite import id is taken apart, and one of another form is refused with the form", () => {
  const { idOf, partsOf } = composite(":", "clusterName", "principalArn");
  const parts = { clusterName: "hub", principalArn: "arn:aws:iam::1:role/r" };
  expect(partsOf("hub:arn:aws:iam::1:role/r")).toEqual(parts);
  expect(idOf(parts)).toBe("hub:arn:aws:iam::1:role/r");
  expect(idOf({ clusterName: "hub" })).toBeUndefined();
  expect(() => partsOf("hub")).toThrow("not of the form <clusterName>:<principalArn>");
});

test("partitions follow the region", () => {
  expect(partitionOf("eu-central-1")).toEqual({ partition: "aws", dnsSuffix: "amazonaws.com" });
  expect(partitionOf("cn-north-1")).toEqual({ partition: "aws-cn", dnsSuffix: "amazonaws.com.cn" });
  expect(partitionOf("us-gov-west-1").partition).toBe("aws-us-gov");
});
