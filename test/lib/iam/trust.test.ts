import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { policy, type Statement } from "../../../lib/iam/policy.ts";
import { podIdentityTrust, roleTrust, serviceAccountTrust, serviceTrust } from "../../../lib/iam/trust.ts";
import { allowed } from "../../support/iam.ts";

const label = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/);
const host = fc.oneof(
  fc
    .tuple(label, fc.constantFrom("us-east-1", "cn-north-1", "us-gov-west-1"))
    .map(([id, region]) => `oidc.eks.${region}.amazonaws.com/id/${id}`),
  label.map((id) => `oidc-eks.eu-central-1.api.aws/id/${id}`),
);
const provider = (issuer: string, partition = "aws") => `arn:${partition}:iam::123456789012:oidc-provider/${issuer}`;

describe("serviceAccountTrust", () => {
  it("admits exactly one service account with exactly the STS audience, under any issuer host and partition", () => {
    fc.assert(
      fc.property(
        host,
        fc.constantFrom("aws", "aws-cn", "aws-us-gov"),
        fc.boolean(),
        label,
        label,
        (issuer, partition, url, namespace, serviceAccount) => {
          const providerArn = provider(issuer, partition);
          const trust = serviceAccountTrust(
            { providerArn, issuer: url ? `https://${issuer}` : issuer },
            { namespace, serviceAccount },
          );
          expect(trust.Statement).toEqual([
            {
              Effect: "Allow",
              Principal: { Federated: providerArn },
              Action: ["sts:AssumeRoleWithWebIdentity"],
              Condition: {
                StringEquals: {
                  [`${issuer}:sub`]: `system:serviceaccount:${namespace}:${serviceAccount}`,
                  [`${issuer}:aud`]: "sts.amazonaws.com",
                },
              },
            },
          ]);
        },
      ),
    );
  });

  it("refuses every name with a wildcard or another character that would widen the subject", () => {
    const subject = fc
      .tuple(label, fc.constantFrom("*", "?", ":", "/", " ", "$", "\n"), label)
      .map(([a, odd, b]) => `${a}${odd}${b}`);
    const issuer = { providerArn: provider("host/id/1"), issuer: "host/id/1" };
    fc.assert(
      fc.property(subject, (odd) => {
        expect(() => serviceAccountTrust(issuer, { namespace: odd, serviceAccount: "ok" })).toThrow(RangeError);
        expect(() => serviceAccountTrust(issuer, { namespace: "ok", serviceAccount: odd })).toThrow(RangeError);
      }),
    );
  });

  it("refuses a provider that belongs to another issuer", () => {
    const subject = { namespace: "a", serviceAccount: "b" };
    expect(() =>
      serviceAccountTrust({ providerArn: provider("host/id/2"), issuer: "https://host/id/1" }, subject),
    ).toThrow(
      "OIDC provider arn:aws:iam::123456789012:oidc-provider/host/id/2 is not the provider of issuer host/id/1",
    );
    expect(() => serviceAccountTrust({ providerArn: provider("*"), issuer: "*" }, subject)).toThrow(
      "not an https URL of an OIDC issuer",
    );
  });
});

describe("podIdentityTrust", () => {
  const arn = "arn:aws:eks:us-east-1:123456789012:cluster/blue";
  const tags = { "eks-cluster-arn": arn, "kubernetes-namespace": "dns", "kubernetes-service-account": "records" };
  const context = (change: Record<string, string> = {}) =>
    Object.fromEntries(Object.entries({ ...tags, ...change }).map(([key, value]) => [`aws:RequestTag/${key}`, value]));
  const [{ Principal: _, ...statement } = {} as Statement] = podIdentityTrust(arn, {
    namespace: "dns",
    serviceAccount: "records",
  }).Statement;
  const lets = (context: Record<string, string>) =>
    allowed(policy({ ...statement, Resource: ["*"] }), { action: "sts:AssumeRole", resource: "*", context });

  it("admits EKS Pod Identity for the pods of one service account of one cluster, and lets their tags in", () => {
    const [statement] = podIdentityTrust(arn, { namespace: "dns", serviceAccount: "records" }).Statement;
    expect(statement).toMatchObject({
      Effect: "Allow",
      Principal: { Service: "pods.eks.amazonaws.com" },
      Action: ["sts:AssumeRole", "sts:TagSession"],
    });
    expect(lets(context())).toBe(true);
  });

  it.each([
    [
      "another cluster of that name in another account",
      { "eks-cluster-arn": arn.replace("123456789012", "210987654321") },
    ],
    ["another namespace", { "kubernetes-namespace": "other" }],
    ["another service account", { "kubernetes-service-account": "default" }],
  ])("refuses %s", (_, change) => expect(lets(context(change))).toBe(false));

  it("admits each service account of a subject, and no other of its namespace", () => {
    const subject = { namespace: "crossplane-system", serviceAccount: ["provider-aws-iam", "provider-aws-sqs"] };
    const [{ Principal: _, ...several } = {} as Statement] = podIdentityTrust(arn, subject).Statement;
    const admits = (serviceAccount: string, namespace = subject.namespace) =>
      allowed(policy({ ...several, Resource: ["*"] }), {
        ...{ action: "sts:AssumeRole", resource: "*" },
        context: context({ "kubernetes-namespace": namespace, "kubernetes-service-account": serviceAccount }),
      });
    expect(subject.serviceAccount.map((name) => admits(name))).toEqual([true, true]);
    expect([admits("provider-aws-rds"), admits("provider-aws-iam", "dns")]).toEqual([false, false]);
    expect(() => podIdentityTrust(arn, { ...subject, serviceAccount: ["ok", "a*"] })).toThrow(RangeError);
  });

  it("refuses an association that turns the tags off: nothing would say whose the pod is", () => {
    expect(lets({})).toBe(false);
  });

  it("takes no name that is not Kubernetes'", () => {
    expect(() => podIdentityTrust(arn, { namespace: "*", serviceAccount: "ok" })).toThrow(RangeError);
    expect(() => podIdentityTrust(arn, { namespace: "ok", serviceAccount: "a*" })).toThrow(RangeError);
  });
});

it("serviceTrust admits one AWS service", () => {
  expect(serviceTrust("ec2.amazonaws.com").Statement).toEqual([
    { Effect: "Allow", Principal: { Service: "ec2.amazonaws.com" }, Action: ["sts:AssumeRole"] },
  ]);
});

it("roleTrust admits roles of the account, also when they are made again, and the tags of their sessions", () => {
  const roleArn = "arn:aws-cn:iam::123456789012:role/fleet-hub-argocd";
  const scope = { partition: "aws-cn", accountId: "123456789012" };
  expect(roleTrust(scope, [roleArn, `${roleArn}-2`]).Statement[0]?.Condition).toEqual({
    ArnEquals: { "aws:PrincipalArn": [roleArn, `${roleArn}-2`] },
  });
  expect(roleTrust(scope, [roleArn]).Statement).toEqual([
    {
      Effect: "Allow",
      Principal: { AWS: "arn:aws-cn:iam::123456789012:root" },
      Action: ["sts:AssumeRole", "sts:TagSession"],
      Condition: { ArnEquals: { "aws:PrincipalArn": roleArn } },
    },
  ]);
});
