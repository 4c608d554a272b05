import { DescribeClusterCommand, ListPodIdentityAssociationsCommand } from "@aws-sdk/client-eks";
import { GetRoleCommand } from "@aws-sdk/client-iam";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withSpec } from "../support/checkout.ts";
import { outcome } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { tenantObjects } from "./support/bucket-tenant.ts";
import { account, eventually, get, instance } from "./support/fleet.ts";
import { type HostedZone, hostedZone } from "./support/hosted-zone.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  clusterOf,
  getOnSpoke,
  onSpoke,
  removeSpoke,
  system,
  untilReady,
  workloads,
} from "./support/spokes.ts";

const name = "ivy"; // environment dev
const composition = "platform/composition/composition.yaml";
const domain = "ivy.example.com";
/** Roles of the spoke, by the end of their names, with what runs under their service accounts; nothing of the driver does here. */
const controllers = {
  crossplane: ["crossplane-system", "provider-aws-iam"],
  "addon-external-dns": ["external-dns", "external-dns-sa"],
} as const;
const byPodIdentity = [...Object.keys(controllers), "aws-ebs-csi-driver"];

let repository: Checkout;
let governance: Checkout;
let zone: HostedZone;

const choose = async (workloadIdentity: "irsa" | "pod-identity") => {
  await repository.edit(composition, (manifest) => {
    manifest.spec.pipeline[0].input.workloadIdentity = workloadIdentity;
    return manifest;
  });
  await repository.push(`Give pods their roles by ${workloadIdentity}`);
};

const roleName = (role: string) => `${clusterOf(name)}-${role}`;

/** Whom a role of the spoke trusts, in AWS. */
async function trusted(role: string): Promise<Readonly<Record<string, string>>> {
  const { Role } = await account.iam.send(new GetRoleCommand({ RoleName: roleName(role) }));
  const { Statement } = JSON.parse(decodeURIComponent(Role?.AssumeRolePolicyDocument ?? ""));
  expect(Statement).toHaveLength(1);
  return Statement[0].Principal;
}

/** The service accounts of the spoke with an association, in AWS. */
async function associated(): Promise<string[]> {
  const list = new ListPodIdentityAssociationsCommand({ clusterName: clusterOf(name) });
  const { associations = [] } = await account.eks.send(list);
  return associations.map(({ namespace, serviceAccount }) => `${namespace}/${serviceAccount}`).sort();
}

/** The names of the variables by which the running pods of a service account find their credentials. */
async function credentialsOf([namespace, serviceAccount]: readonly [string, string]): Promise<string[][]> {
  const { items } = await getOnSpoke(name, ["pods", "--namespace", namespace]);
  const own = (items as Editable[]).filter(
    ({ metadata, spec }) => spec.serviceAccountName === serviceAccount && metadata.deletionTimestamp === undefined,
  );
  expect(own.length).toBeGreaterThan(0);
  const found = /^AWS_(CONTAINER_CREDENTIALS_FULL_URI|WEB_IDENTITY_TOKEN_FILE)$/;
  return own.map(({ spec }) =>
    (spec.containers[0].env ?? [])
      .map((each: { name: string }) => each.name)
      .filter((each: string) => found.test(each)),
  );
}

const untilPodsHave = (variable: string) =>
  eventually(600, async () => {
    for (const subject of Object.values(controllers))
      for (const found of await credentialsOf(subject)) expect([...subject, ...found]).toEqual([...subject, variable]);
  });

/** That external-dns writes a record in Route 53, and takes it back. */
async function writesRecords(host: string): Promise<void> {
  const names = async () => (await zone.records()).map((record) => record.split(" ")[0]);
  const service = {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      name: host,
      namespace: "default",
      annotations: { "external-dns.alpha.kubernetes.io/hostname": `${host}.${domain}` },
    },
    spec: { type: "ExternalName", externalName: "target.example.com" },
  };
  await onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify(service) });
  await eventually(300, async () => expect(await names()).toContain(`${host}.${domain}.`));
  await onSpoke(name, ["delete", "service", host, "--namespace", "default"]);
  await eventually(300, async () => expect(await names()).not.toContain(`${host}.${domain}.`));
}

/** That Crossplane makes the role of an application that comes now. */
async function makesRoles(namespace: string): Promise<void> {
  await governance.write(`clusters/${name}/${namespace}.yaml`, ...tenantObjects(governance, namespace));
  await governance.push(`Add ${namespace} to ${name}`);
  await fetchNow(name, "gitops-workloads", "flux-system");
  const order = new GetRoleCommand({ RoleName: `${clusterOf(name)}_${namespace}` });
  await eventually(300, async () => expect(await outcome(account.iam.send(order))).toBe("allowed"));
}

beforeAll(async () => {
  await prepareAddons(instance, ["external_dns"]);
  zone = await hostedZone(domain);
  repository = await system();
  governance = await workloads();
  await addSpoke(repository, name, "dev", withSpec({ addons: ["external_dns"] }));
  await repository.push(`Add spoke ${name}`);
  await untilReady(name, 900);
});
afterAll(async () => {
  await choose("irsa");
  await zone.remove();
});

describe("a spoke that runs with IRSA", () => {
  test("goes over to EKS Pod Identity by a commit: no role of a controller trusts the OIDC provider, and its pods start anew with their association", async () => {
    await untilPodsHave("AWS_WEB_IDENTITY_TOKEN_FILE");
    expect(await associated()).toEqual([]);
    const uid = async () => (await get(["spoke", name, "--namespace", "spokes"])).metadata.uid;
    const before = await uid();
    await choose("pod-identity");
    await eventually(600, async () => {
      for (const role of byPodIdentity)
        expect([role, await trusted(role)]).toEqual([role, { Service: "pods.eks.amazonaws.com" }]);
      expect(await associated()).toEqual([
        ...["dynamodb", "iam", "rds", "s3", "sqs"].map((service) => `crossplane-system/provider-aws-${service}`),
        "external-dns/external-dns-sa",
        "kube-system/ebs-csi-controller-sa",
      ]);
    });
    await untilPodsHave("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    await untilReady(name);
    expect(await uid()).toBe(before);
  });

  test("keeps the role of External Secrets, for a service account without pods, with IRSA", async () => {
    expect(await trusted("external-secrets")).toEqual({ Federated: expect.stringContaining(":oidc-provider/") });
    const { items } = await getOnSpoke(name, ["externalsecrets", "--all-namespaces"]);
    const states = (items as Editable[]).map(
      ({ status }) => status.conditions.find(({ type }: { type: string }) => type === "Ready").status,
    );
    expect([...new Set(states)]).toEqual(["True"]);
  });

  test("goes on: external-dns writes records, and Crossplane makes what an application orders", async () => {
    await writesRecords("first");
    await makesRoles("archive");
  });
});

describe("a spoke with EKS Pod Identity", () => {
  test("goes back by a commit, and goes on", async () => {
    await choose("irsa");
    await untilPodsHave("AWS_WEB_IDENTITY_TOKEN_FILE");
    expect(await associated()).toEqual([]);
    for (const role of byPodIdentity)
      expect([role, await trusted(role)]).toEqual([role, { Federated: expect.stringContaining(`:oidc-provider/`) }]);
    await untilReady(name);
    await writesRecords("second");
    await makesRoles("billing");
  });

  test("leaves nothing in AWS when it is removed", async () => {
    await choose("pod-identity");
    await untilPodsHave("AWS_CONTAINER_CREDENTIALS_FULL_URI");
    await governance.remove(`clusters/${name}`);
    await governance.push(`Remove archive and billing from ${name}`);
    await fetchNow(name, "gitops-workloads", "flux-system");
    const orders = ["archive", "billing"].map((app) => `${clusterOf(name)}_${app}`);
    await eventually(300, async () => {
      for (const RoleName of orders)
        expect(await outcome(account.iam.send(new GetRoleCommand({ RoleName })))).toMatch(/^NoSuchEntity/);
    });
    await removeSpoke(repository, name);
    for (const role of [...byPodIdentity, "external-secrets", "node", "cluster"])
      expect([role, await outcome(account.iam.send(new GetRoleCommand({ RoleName: roleName(role) })))]).toEqual([
        role,
        expect.stringMatching(/^NoSuchEntity/),
      ]);
    const gone = expect.stringMatching(/^ResourceNotFoundException/);
    expect(await outcome(account.eks.send(new DescribeClusterCommand({ name: clusterOf(name) })))).toEqual(gone);
    expect(await outcome(associated())).toEqual(gone);
  });
});
