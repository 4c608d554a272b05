import { join } from "node:path";
import {
  CreateRoleCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  PutRolePolicyCommand,
} from "@aws-sdk/client-iam";
import { DescribeSecretCommand, GetSecretValueCommand } from "@aws-sdk/client-secrets-manager";
import { machineCidr } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { arns, policy } from "../../lib/iam/policy.ts";
import { serviceAccountTrust, serviceTrust } from "../../lib/iam/trust.ts";
import { fleetNames } from "../../lib/names.ts";
import { build } from "../repos/support/kustomize.ts";
import { instantiated } from "../repos/support/spoke.ts";
import { isMissing } from "../support/cluster.ts";
import { APP } from "./support/apps.ts";
import { account, eventually, get, hub, kubectl, pulumi, secretData, tryKubectl, upWith } from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import { addSpoke, BOOTSTRAP_SECONDS, clusterOf, system, untilGone, untilReady } from "./support/spokes.ts";

/**
 * Spokes for an Argo CD in another cluster (docs/guides/argocd.md, "In another cluster"), from the Spoke to the cluster secret there. A namespace of the
 * hub stands for that cluster.
 */

const spoke = "plum";
const there = "argocd-there";
const composition = "platform/composition/composition.yaml";
const names = fleetNames("fleet");
const roles = { argocd: "argocd-elsewhere", reader: "argocd-elsewhere-reader" } as const;
/** Seconds until a change of the stack or a Spoke has come through Secrets Manager, on a machine that is busy. */
const SECONDS = 420;

let repository: Checkout;
let argocdRoleArn: string;
let bridge: Readonly<Record<string, string>>;

const scope = () => ({
  partition: bridge["aws_partition"] ?? "",
  accountId: bridge["aws_account_id"] ?? "",
  region: bridge["aws_region"] ?? "",
});

async function makeRoles(): Promise<void> {
  const { oidc_provider_arn: providerArn = "", oidc_provider: issuer = "" } = bridge;
  const subject = { namespace: there, serviceAccount: "fleet-fleet" };
  // Nobody assumes the first: what counts is that it has the access.
  for (const [RoleName, trust] of [
    [roles.argocd, serviceTrust("ec2.amazonaws.com")],
    [roles.reader, serviceAccountTrust({ providerArn, issuer }, subject)],
  ] as const)
    await account.iam.send(new CreateRoleCommand({ RoleName, AssumeRolePolicyDocument: JSON.stringify(trust) }));
  // As the guide has it.
  const document = policy({
    Effect: "Allow",
    Action: ["secretsmanager:DescribeSecret", "secretsmanager:GetSecretValue"],
    Resource: [arns(scope()).secret(names.argocdSecret("*"))],
  });
  await account.iam.send(
    new PutRolePolicyCommand({ RoleName: roles.reader, PolicyName: "read", PolicyDocument: JSON.stringify(document) }),
  );
}

/** What the template becomes there. */
const elsewhere = () =>
  instantiated(
    join(repository.folder, "templates", "argocd-elsewhere"),
    { fleet: "fleet", spoke, region: scope().region, readerRoleArn: arns(scope()).role(roles.reader) },
    {},
    build,
  ).map((object) => ({ ...object, metadata: { ...object.metadata, namespace: there } }));

const setInput = (argocd: object | undefined) =>
  repository.edit(composition, (object) => {
    const [step] = object.spec.pipeline;
    step.input.argocd = argocd;
    return object;
  });

/** The spoke's secret in AWS; undefined when there is none. */
const secretInAws = () =>
  account.secretsmanager
    .send(new DescribeSecretCommand({ SecretId: names.argocdSecret(spoke) }))
    .catch((error: Error) => {
      if (error.name === "ResourceNotFoundException") return undefined;
      throw error;
    });

/** What Argo CD would read of it. */
async function valueInAws(): Promise<unknown> {
  const { SecretBinary, SecretString } = await account.secretsmanager.send(
    new GetSecretValueCommand({ SecretId: names.argocdSecret(spoke) }),
  );
  return JSON.parse(SecretString ?? new TextDecoder().decode(SecretBinary));
}

/** Has the other cluster look now, and not at its interval. */
const readAgain = () =>
  kubectl([
    ...["annotate", "externalsecret", `cluster-${spoke}`, "--namespace", there, "--overwrite"],
    `force-sync=${new Date().toISOString()}`,
  ]);

beforeAll(async () => {
  bridge = await secretData("flux-system", "cluster-hub");
  argocdRoleArn = arns(scope()).role(roles.argocd);
  await makeRoles();
  await upWith((config) => ({ ...config, argocdClusterSecret: true, argocdSpokes: true, argocdRoleArn }));
  repository = await system();
  await setInput({ namespaces: [APP] });
  await addSpoke(repository, spoke, "dev", undefined, ["--public-access-cidr", machineCidr]);
  await repository.push(`Let an Argo CD elsewhere act on spokes, and add ${spoke}`);
  await untilReady(spoke, 2 * BOOTSTRAP_SECONDS);
  await kubectl(["create", "namespace", there]);
});

afterAll(async () => {
  await tryKubectl(["delete", "namespace", there, "--ignore-not-found"]);
  await repository?.restore();
  await untilGone(spoke);
  // The PushSecret needs the stack's role and operator to go.
  await eventually(SECONDS, async () => expect(await secretInAws()).toBeUndefined());
  await pulumi(["up", "--yes", "--skip-preview"]);
  await account.iam.send(new DeleteRolePolicyCommand({ RoleName: roles.reader, PolicyName: "read" }));
  for (const RoleName of Object.values(roles)) await account.iam.send(new DeleteRoleCommand({ RoleName }));
});

describe("an Argo CD elsewhere", () => {
  test("has access to the spoke as its own role, with the edit policy in the named namespaces", async () => {
    const kinds = "accessentries.eks.aws.m.upbound.io,accesspolicyassociations.eks.aws.m.upbound.io";
    const { items } = await get([kinds, "--namespace", "spokes"]);
    const own = items.filter(({ spec }: Editable) => spec.forProvider.principalArn === argocdRoleArn);
    expect(own.map(({ kind }: Editable) => kind).sort()).toEqual(["AccessEntry", "AccessPolicyAssociation"]);
  });

  test("finds the spoke in Secrets Manager under the fleet's name, with the fleet's tags", async () => {
    await eventually(SECONDS, async () => {
      const tags = Object.fromEntries(((await secretInAws())?.Tags ?? []).map(({ Key, Value }) => [Key, Value]));
      expect(tags).toMatchObject({ "fleet.internal/fleet": "fleet", "fleet.internal/cluster": spoke });
    });
  });

  test("gets a cluster secret of it by an ExternalSecret: the role, the bridge's labels and annotations, no credential", async () => {
    await kubectl(["apply", "--server-side", "--filename", "-"], {
      input: JSON.stringify({ apiVersion: "v1", kind: "List", items: elsewhere() }),
    });
    await eventually(SECONDS, async () => {
      const { metadata } = await get(["secret", `cluster-${spoke}`, "--namespace", there]);
      expect(metadata.labels).toMatchObject({
        "argocd.argoproj.io/secret-type": "cluster",
        cluster_name: spoke,
        environment: "dev",
      });
      expect(metadata.annotations).toMatchObject(await secretData("spokes", `cluster-${spoke}`));
    });
    const { config = "", ...data } = await secretData(there, `cluster-${spoke}`);
    expect(data).toEqual({
      name: spoke,
      server: expect.stringMatching(/^https:/),
      namespaces: APP,
      clusterResources: "false",
    });
    expect(JSON.parse(config)).toEqual({
      awsAuthConfig: { clusterName: clusterOf(spoke), roleARN: argocdRoleArn },
      tlsClientConfig: { insecure: false, caData: expect.any(String) },
    });
  });

  test("gets a change of it by the same way, and the writing goes on without a failure", async () => {
    const namespaces = [APP, "search-app"];
    await setInput({ namespaces });
    await repository.push("Let an Argo CD elsewhere act in another namespace");
    await eventually(SECONDS, async () =>
      expect(await valueInAws()).toMatchObject({ namespaces: namespaces.join(",") }),
    );
    await readAgain();
    await eventually(SECONDS, async () =>
      expect((await secretData(there, `cluster-${spoke}`))["namespaces"]).toBe(namespaces.join(",")),
    );
    // External Secrets says after the value whether it may leave the secret as it is to be.
    await eventually(SECONDS, async () => {
      const { metadata, status } = await get(["pushsecret", `cluster-${spoke}`, "--namespace", "argocd"]);
      expect(status.syncedResourceVersion).toMatch(new RegExp(`^${metadata.generation}-`));
      expect(status.conditions).toEqual([expect.objectContaining({ type: "Ready", status: "True" })]);
    });
    await untilReady(spoke);
  });

  test("can't lose the store through which the hub writes, while there is something that it wrote", async () => {
    const remove = ["delete", "secretstore", "argocd-secrets", "--namespace", "argocd", "--dry-run=server"];
    await expect(kubectl(remove)).rejects.toThrow(
      `SecretStore argocd-secrets goes after what it wrote; PushSecret cluster-${spoke} still exists`,
    );
  });

  test("loses it when it is turned off: no secret in AWS, none on the hub, and none there", async () => {
    await setInput(undefined);
    await repository.push("Give Argo CD no namespaces on spokes");
    await eventually(SECONDS, async () => {
      expect(await secretInAws()).toBeUndefined();
      expect(await isMissing(hub, ["secret", `cluster-${spoke}`, "--namespace", "argocd"])).toBe(true);
    });
    await readAgain();
    await eventually(SECONDS, async () =>
      expect(await isMissing(hub, ["secret", `cluster-${spoke}`, "--namespace", there])).toBe(true),
    );
    await untilReady(spoke);
  });
});
