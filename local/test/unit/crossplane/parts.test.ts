import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EC2Client } from "@aws-sdk/client-ec2";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { connections } from "../../../crossplane/provider-aws/credentials.ts";
import { type Config, configAction, configOf } from "../../../crossplane/provider-aws/family.ts";
import type { Objects } from "../../../crossplane/provider-aws/kube.ts";
import {
  creationIsIncomplete,
  desiredState,
  isTold,
  type Managed,
  unblocksOthers,
  withConditions,
} from "../../../crossplane/provider-aws/managed.ts";
import { duration, parseOptions } from "../../../crossplane/provider-aws/options.ts";
import { scratch } from "../../support/scratch.ts";
import { serving } from "../../support/serving.ts";

describe("flags", () => {
  test("are upstream's", () => {
    expect(parseOptions(["--poll=1m30s", "--max-reconcile-rate=5", "-d"])).toEqual({
      pollMs: 90_000,
      concurrency: 5,
      debug: true,
    });
    expect(parseOptions([]).pollMs).toBe(600_000);
  });

  test.each([["--poll=soon"], ["--poll=0s"], ["--max-reconcile-rate=0"], ["--leader-election"]])(
    "%s is refused",
    (flag) => {
      expect(() => parseOptions([flag])).toThrow();
    },
  );

  test("durations are Go's", () => {
    expect(duration("1h30m")).toBe(5_400_000);
    expect(duration("250ms")).toBe(250);
    expect(duration("90")).toBeUndefined();
  });
});

describe("annotations and conditions", () => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const managed = (annotations: Record<string, string>) => ({ metadata: { annotations } }) as unknown as Managed;

  test.each([
    [{}, false],
    [{ pending: 5 }, true],
    [{ pending: 5, succeeded: 6 }, false],
    [{ pending: 5, failed: 5 }, false],
    [{ pending: 7, succeeded: 6, failed: 5 }, true],
  ])("a creation with %j is incomplete: %s", (times, incomplete) => {
    const annotations = Object.entries(times).map(([name, time]) => [
      `crossplane.io/external-create-${name}`,
      at(time),
    ]);
    expect(creationIsIncomplete(managed(Object.fromEntries(annotations)))).toBe(incomplete);
  });

  test("a condition keeps its time until it changes", () => {
    const before = { metadata: { generation: 1 }, status: { conditions: [] } } as unknown as Managed;
    const ready = { type: "Ready", status: "True", reason: "Available" } as const;
    const first = withConditions(before, [ready], () => new Date(0));
    const again = withConditions({ ...before, status: { conditions: first } }, [ready], () => new Date(9000));
    expect(again).toEqual(first);
    const changed = withConditions(
      { ...before, status: { conditions: first } },
      [{ ...ready, status: "False" }],
      () => new Date(9000),
    );
    expect(changed[0]?.lastTransitionTime).toBe("1970-01-01T00:00:09Z");
  });

  test("a change of status or of the creation's annotations is not a reason for a pass", () => {
    const base = { metadata: { generation: 1, annotations: {} }, spec: {}, status: {} } as unknown as Managed;
    const own = {
      ...base,
      metadata: { ...base.metadata, annotations: { "crossplane.io/external-create-pending": "x" } },
    };
    expect(desiredState({ ...own, status: { atProvider: { a: 1 } } })).toBe(desiredState(base));
    const person = { ...base, metadata: { ...base.metadata, annotations: { "crossplane.io/paused": "true" } } };
    expect(desiredState(person)).not.toBe(desiredState(base));
  });

  test("a person who says how a creation ended calls for a pass, and the controller that notes both at once does not", () => {
    const noted = (annotations: object) =>
      ({ metadata: { generation: 1, annotations }, spec: {} }) as unknown as Managed;
    const pending = { "crossplane.io/external-create-pending": "2026-01-01T00:00:00Z" };
    const ended = { ...pending, "crossplane.io/external-create-succeeded": "2026-01-01T00:00:00Z" };
    expect(isTold(noted(pending), noted(ended))).toBe(true);
    expect(isTold(noted({}), noted(ended))).toBe(false);
    expect(isTold(noted(ended), noted(ended))).toBe(false);
  });

  const withStatus = (id: string | undefined, ready: "True" | "False", synced = "True") =>
    ({
      status: {
        atProvider: { id },
        conditions: [
          { type: "Ready", status: ready },
          { type: "Synced", status: synced },
        ],
      },
    }) as unknown as Managed;

  test.each([
    ["its new ID", true, withStatus(undefined, "False"), withStatus("vpc-1", "False")],
    ["that it has become ready", true, withStatus("vpc-1", "False"), withStatus("vpc-1", "True")],
    ["another failure", false, withStatus(undefined, "False", "True"), withStatus(undefined, "False", "False")],
    ["that it is no longer ready", false, withStatus("vpc-1", "True"), withStatus("vpc-1", "False")],
  ])("resources that wait for another are tried again when it shows %s: %s", (_what, tried, before, after) => {
    expect(unblocksOthers(before, after)).toBe(tried);
  });
});

describe("a ProviderConfig", () => {
  const config = (metadata: object, status?: object): Config =>
    ({
      metadata: { name: "default", uid: "u", resourceVersion: "1", generation: 1, ...metadata },
      ...(status && { status }),
    }) as Config;

  test("stays as long as resources use it", () => {
    expect(configAction(config({}), 0)).toEqual({ finalizers: ["in-use.crossplane.io"] });
    const held = { finalizers: ["in-use.crossplane.io"] };
    expect(configAction(config(held), 3)).toEqual({ status: { users: 3 } });
    expect(configAction(config(held, { users: 3 }), 3)).toBe("none");
    const deleted = { ...held, deletionTimestamp: "2026-01-01T00:00:00Z" };
    expect(configAction(config(deleted, { users: 3 }), 3)).toMatchObject({
      status: { conditions: [{ type: "Terminating", status: "False", reason: "InUse" }] },
    });
    expect(configAction(config(deleted), 0)).toEqual({ finalizers: [] });
  });

  test("is counted by kind and namespace", () => {
    const usage = (kind: string) => ({
      metadata: { name: "u", namespace: "team", resourceVersion: "1" },
      providerConfigRef: { kind, name: "default" },
    });
    expect(configOf(usage("ClusterProviderConfig"))).toBe("ClusterProviderConfig//default");
    expect(configOf(usage("ProviderConfig"))).toBe("ProviderConfig/team/default");
  });
});

describe("credentials", () => {
  const managed = {
    metadata: { namespace: "team" },
    spec: { forProvider: { region: "eu-west-1" }, providerConfigRef: { kind: "ProviderConfig", name: "mine" } },
  } as unknown as Managed;
  const objects = (spec: object | undefined) =>
    ({ providerConfig: async () => spec && { spec } }) as unknown as Objects;
  const tokenFile = () => {
    const file = join(scratch("fleet-token-"), "token");
    writeFileSync(file, "jwt");
    return file;
  };
  const irsa = { AWS_ROLE_ARN: "arn:role", AWS_WEB_IDENTITY_TOKEN_FILE: "/token" };

  test("by IRSA are the pod's own, one session for each region", async () => {
    const connected = connections(objects({ credentials: { source: "IRSA" } }), irsa);
    const aws = await connected.connect(managed);
    expect(aws.region).toBe("eu-west-1");
    expect(await connected.connect(managed)).toBe(aws);
  });

  test("by PodIdentity are those that the agent gives for the pod's token, unless the pod has a role by IRSA, as upstream", async () => {
    const Expiration = "2100-01-01T00:00:00Z";
    const asked: (string | undefined)[] = [];
    const agent = await serving(({ headers }, _body, response) => {
      asked.push(headers.authorization);
      response.end(JSON.stringify({ AccessKeyId: "AGENT", SecretAccessKey: "s", Token: "t", Expiration }));
    });
    const token = tokenFile();
    const environment = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${agent}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: token,
    };
    const spec = objects({ credentials: { source: "PodIdentity" } });
    const aws = await connections(spec, environment).connect(managed);
    expect((await aws.client(EC2Client).config.credentials()).accessKeyId).toBe("AGENT");
    expect(asked).toEqual(["jwt"]);
    const both = await connections(spec, { ...environment, ...irsa }).connect(managed);
    await expect(both.client(EC2Client).config.credentials()).rejects.toThrow("Web identity");
  });

  test("by a chain go from role to role, each with its external id and session tags", async () => {
    const asked: Record<string, string>[] = [];
    const endpoint = await serving(({ headers }, body, response) => {
      const form = Object.fromEntries(new URLSearchParams(body));
      const signedBy = /Credential=([^/]+)/.exec(headers.authorization ?? "")?.[1] ?? "nobody";
      asked.push({ ...form, signedBy });
      const keys = `<AccessKeyId>KEY${asked.length}</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken>`;
      const credentials = `<Credentials>${keys}<Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>`;
      const action = form["Action"];
      response.setHeader("content-type", "text/xml");
      response.end(`<${action}Response><${action}Result>${credentials}</${action}Result></${action}Response>`);
    });
    onTestFinished(() => void vi.unstubAllEnvs());
    const token = tokenFile();
    const own = { AWS_ROLE_ARN: "arn:aws:iam::000000000000:role/own", AWS_WEB_IDENTITY_TOKEN_FILE: token };
    for (const [name, value] of Object.entries({ ...own, AWS_ENDPOINT_URL: endpoint })) vi.stubEnv(name, value);
    const assumeRoleChain = [
      { roleARN: "arn:aws:iam::000000000001:role/hop" },
      {
        roleARN: "arn:aws:iam::000000000002:role/customer",
        externalID: "customer-7",
        tags: [{ key: "team", value: "red" }],
        transitiveTagKeys: ["team"],
      },
    ];
    const aws = await connections(objects({ credentials: { source: "IRSA" }, assumeRoleChain }), own).connect(managed);
    const { accessKeyId } = await aws.client(EC2Client).config.credentials();
    expect(accessKeyId).toBe("KEY3");
    expect(asked).toMatchObject([
      { Action: "AssumeRoleWithWebIdentity", RoleArn: own.AWS_ROLE_ARN, WebIdentityToken: "jwt" },
      { Action: "AssumeRole", RoleArn: "arn:aws:iam::000000000001:role/hop", signedBy: "KEY1" },
      {
        Action: "AssumeRole",
        RoleArn: "arn:aws:iam::000000000002:role/customer",
        signedBy: "KEY2",
        ExternalId: "customer-7",
        "Tags.member.1.Key": "team",
        "Tags.member.1.Value": "red",
        "TransitiveTagKeys.member.1": "team",
      },
    ]);
    expect(asked[1]).not.toHaveProperty("ExternalId");
  });

  test.each([
    [undefined, irsa, "cannot get the ProviderConfig mine: it does not exist"],
    [
      { credentials: { source: "IRSA" } },
      {},
      "its service account must carry the annotation eks.amazonaws.com/role-arn",
    ],
    [
      { credentials: { source: "PodIdentity" } },
      {},
      "its service account must have an EKS Pod Identity association before the pod starts",
    ],
    [{ credentials: { source: "Secret" } }, irsa, "the source Secret is not implemented here: use IRSA or PodIdentity"],
    [{ credentials: { source: "IRSA" }, assumeRoleChain: [{}] }, irsa, "has no roleARN"],
  ])("that can't be had say why: %j", async (spec, environment, message) => {
    const connected = connections(objects(spec), environment as Record<string, string>);
    await expect(connected.connect(managed)).rejects.toThrow(message);
  });
});
