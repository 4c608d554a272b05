import { utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { AmpClient, ListWorkspacesCommand as ListMetrics } from "@aws-sdk/client-amp";
import { DescribeVpcsCommand, EC2Client } from "@aws-sdk/client-ec2";
import { EKSClient, ListClustersCommand } from "@aws-sdk/client-eks";
import { IAMClient, ListRolesCommand } from "@aws-sdk/client-iam";
import { KMSClient, ListKeysCommand } from "@aws-sdk/client-kms";
import { DescribeDBInstancesCommand, RDSClient } from "@aws-sdk/client-rds";
import { ListHostedZonesCommand, Route53Client } from "@aws-sdk/client-route-53";
import { ListBucketsCommand, S3Client } from "@aws-sdk/client-s3";
import { ListQueuesCommand, SQSClient } from "@aws-sdk/client-sqs";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { beforeAll, describe, expect, test } from "vitest";
import { credentialScope } from "../../../gateway/aws/credential-scope.ts";
import type { HttpRequest } from "../../../gateway/aws/http.ts";
import { clearFaults, faultsFile, faultsIn, setFaults } from "../../../gateway/faults/faults.ts";
import { actionOf, firsts } from "../../../gateway/faults/hold.ts";
import { throttle, throttled } from "../../../gateway/faults/throttle.ts";
import { type Handler, listener } from "../../../gateway/listeners.ts";
import { scratch } from "../../support/scratch.ts";
import { originOf } from "../../support/serving.ts";

describe("a throttled request", () => {
  let endpoint: string;
  /** Services as they were called. */
  const called: string[] = [];
  beforeAll(async () => {
    const refuse: Handler = async (request) => {
      const service = credentialScope(request)?.service ?? "";
      called.push(service);
      return throttled(service);
    };
    endpoint = await originOf(createServer(listener(refuse, (line) => expect.fail(line))));
  });

  const credentials = { accessKeyId: "AKIAEXAMPLE", secretAccessKey: "example" };
  const config = () => ({ endpoint, credentials, region: "us-east-1", maxAttempts: 2, forcePathStyle: true });
  test.concurrent.for([
    ["Throttling", 400, "iam", () => new IAMClient(config()).send(new ListRolesCommand())],
    ["Throttling", 400, "sts", () => new STSClient(config()).send(new GetCallerIdentityCommand())],
    ["Throttling", 400, "route53", () => new Route53Client(config()).send(new ListHostedZonesCommand())],
    ["Throttling", 400, "rds", () => new RDSClient(config()).send(new DescribeDBInstancesCommand({}))],
    ["RequestLimitExceeded", 503, "ec2", () => new EC2Client(config()).send(new DescribeVpcsCommand())],
    ["ThrottlingException", 429, "eks", () => new EKSClient(config()).send(new ListClustersCommand())],
    ["ThrottlingException", 429, "aps", () => new AmpClient(config()).send(new ListMetrics())],
    ["ThrottlingException", 400, "kms", () => new KMSClient(config()).send(new ListKeysCommand())],
    ["ThrottlingException", 400, "sqs", () => new SQSClient(config()).send(new ListQueuesCommand())],
    ["SlowDown", 503, "s3", () => new S3Client(config()).send(new ListBucketsCommand())],
  ] as const)(
    "is %s (%d) for the SDK's client of %s, which calls again",
    async ([name, httpStatusCode, service, call]) => {
      await expect(call()).rejects.toMatchObject({ name, $metadata: { httpStatusCode } });
      expect(called.filter((one) => one === service)).toHaveLength(2);
    },
  );
});

describe("a service with a rate", () => {
  const faults = (iam: number) => ({ requestsPerSecond: { iam } });
  const exceeded = (rate: number, times: readonly number[]): boolean[] => {
    let now = 0;
    const exceeds = throttle(() => now);
    return times.map((time) => {
      now = time;
      return exceeds("iam", faults(rate));
    });
  };
  test("answers a second's requests at once, then as many as come back", () => {
    expect(exceeded(2, [0, 0, 0, 400, 500, 500])).toEqual([false, false, true, true, false, true]);
  });
  test("does not answer more at once after a long rest", () => {
    expect(exceeded(2, [60_000, 60_000, 60_000])).toEqual([false, false, true]);
  });
  test("answers one request where the rate is below one a second", () => {
    expect(exceeded(0.5, [0, 1900, 2000])).toEqual([false, true, false]);
  });
  test("leaves other services alone", () => {
    const exceeds = throttle(() => 0);
    expect([1, 2, 3].map(() => exceeds("ec2", faults(1)))).toEqual([false, false, false]);
  });
});

describe("an answer that is held", () => {
  const signedFor = (service: string) => ({
    authorization: `AWS4-HMAC-SHA256 Credential=AKIAEXAMPLE/20261126/us-east-1/${service}/aws4_request, SignedHeaders=host`,
  });
  const request = (service: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
    method: "POST",
    url: "/",
    rawHeaders: [],
    body: Buffer.alloc(0),
    ...more,
    headers: { ...signedFor(service), ...more.headers },
  });
  const form = (service: string, action: string) =>
    request(service, {
      headers: { "content-type": "application/x-www-form-urlencoded; charset=utf-8" },
      body: Buffer.from(`Action=${action}&Version=2016-11-15`),
    });

  test.each([
    ["ec2:CreateVpc", form("ec2", "CreateVpc")],
    ["kms:CreateKey", request("kms", { headers: { "x-amz-target": "TrentService.CreateKey" } })],
    ["eks:CreateNodegroup", request("eks", { url: "/clusters/one/node-groups" })],
    ["eks:DeleteNodegroup", request("eks", { method: "DELETE", url: "/clusters/one/node-groups/a" })],
    [undefined, request("eks", { url: "/nothing" })],
    [undefined, request("s3", { method: "PUT", url: "/bucket/key", body: Buffer.from("Action=CreateVpc") })],
  ])("is of the action %s", (action, asked) => {
    expect(actionOf(asked)).toBe(action);
  });

  test("is the first to each action, and the first again when the fault has been taken back", () => {
    const held = firsts();
    const heldAnswers = ["ec2:CreateVpc", "ec2:CreateSubnet"].map((action) => ({ action }));
    const vpc = form("ec2", "CreateVpc");
    expect(held(vpc, { heldAnswers })).toBe("ec2:CreateVpc");
    expect(held(vpc, { heldAnswers })).toBeUndefined();
    expect(held(form("ec2", "CreateSubnet"), { heldAnswers })).toBe("ec2:CreateSubnet");
    expect(held(form("ec2", "CreateRoute"), { heldAnswers })).toBeUndefined();
    expect(held(vpc, { heldAnswers: [] })).toBeUndefined();
    expect(held(vpc, { heldAnswers })).toBe("ec2:CreateVpc");
  });

  test("is the first that contains a text, in its path or its body", () => {
    const held = firsts();
    const heldAnswers = ["ec2:CreateVpc", "eks:CreateNodegroup"].map((action) => ({ action, containing: "blue" }));
    const vpc = (name: string) => form("ec2", `CreateVpc&TagSpecification.1.Tag.1.Value=${name}`);
    expect(held(vpc("green"), { heldAnswers })).toBeUndefined();
    expect(held(vpc("blue"), { heldAnswers })).toBe("ec2:CreateVpc");
    expect(held(vpc("blue"), { heldAnswers })).toBeUndefined();
    const nodes = (cluster: string) => request("eks", { url: `/clusters/${cluster}/node-groups` });
    expect(held(nodes("fleet-spoke-green"), { heldAnswers })).toBeUndefined();
    expect(held(nodes("fleet-spoke-blue"), { heldAnswers })).toBe("eks:CreateNodegroup");
  });
});

describe("the faults of an instance", () => {
  const dir = scratch("fleet-faults-");
  const none = {
    requestsPerSecond: {},
    newRolesUnknownSeconds: 0,
    tagsUncountedSeconds: {},
    certificatesExpired: false,
    kubeletConfig: {},
    nodesTakeVcpus: false,
    clockAheadSeconds: 0,
    requiredTags: [],
    serviceControlPolicy: [],
    heldAnswers: [],
  };

  test("come with the next request, and go", async () => {
    const faults = faultsIn(faultsFile({ dir }));
    expect(await faults()).toEqual(none);
    await setFaults({ dir }, { newRolesUnknownSeconds: 10 });
    expect(await faults()).toEqual({ ...none, newRolesUnknownSeconds: 10 });
    await clearFaults({ dir });
    expect(await faults()).toEqual(none);
    await clearFaults({ dir });
  });

  test("hold answers to an action, or to its requests with a text", async () => {
    const held = { action: "ec2:CreateVpc", containing: "blue" };
    await setFaults({ dir }, { heldAnswers: ["iam:CreateRole", held] });
    expect(await faultsIn(faultsFile({ dir }))()).toEqual({
      ...none,
      heldAnswers: [{ action: "iam:CreateRole" }, held],
    });
    await clearFaults({ dir });
  });

  test("are refused where nobody has such, and the file is named", async () => {
    await expect(async () => setFaults({ dir }, { requestsPerSecond: { lambda: 1 } } as never)).rejects.toThrow(
      "lambda",
    );
    await expect(async () => setFaults({ dir }, { heldAnswers: ["CreateVpc"] })).rejects.toThrow(
      "such as ec2:CreateVpc",
    );
    writeFileSync(faultsFile({ dir }), `{ "requestsPerSecond": { "iam": -1 } }`);
    utimesSync(faultsFile({ dir }), 1, 1);
    await expect(faultsIn(faultsFile({ dir }))()).rejects.toThrow(
      /faults\.json can't be used: .*requestsPerSecond\.iam/s,
    );
  });
});
