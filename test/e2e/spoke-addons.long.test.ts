import { GetRoleCommand } from "@aws-sdk/client-iam";
import { CreateHostedZoneCommand, DeleteHostedZoneCommand, ListHostedZonesCommand } from "@aws-sdk/client-route-53";
import {
  DeleteObjectCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  ListObjectsV2Command,
  PutBucketPolicyCommand,
} from "@aws-sdk/client-s3";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { labelKeys } from "../../lib/labels.ts";
import { withSpec } from "../support/checkout.ts";
import { outcome } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import {
  bucketObject,
  bucketOf,
  put,
  read,
  removeBucket,
  tenantObjects,
  versioningObject,
} from "./support/bucket-tenant.ts";
import { account, eventually, instance, upWith } from "./support/fleet.ts";
import { type HostedZone, hostedZone, route53 } from "./support/hosted-zone.ts";
import { actingAs, assume, STS_AUDIENCE, serviceAccountToken } from "./support/identity.ts";
import type { Checkout } from "./support/repository.ts";
import {
  addSpoke,
  condition,
  getOnSpoke,
  on,
  onSpoke,
  removeSpoke,
  system,
  tryOnSpoke,
  untilReady,
  workloads,
} from "./support/spokes.ts";

const name = "lime"; // environment dev
/** Every add-on whose programs can be built here but image_automation (image-automation.long.test.ts), and the one that has none of its own. */
const built = ["cert_manager", "external_dns", "kyverno", "metrics_server", "prometheus"] as const;
const all = [...built, "s3_buckets"] as const;
const roleOf = (addon: string) => `fleet-spoke-${name}-addon-${addon.replace("_", "-")}`;
/** `allowed` if IAM has the role of an add-on, else the error. */
const roleInAws = (addon: string) => outcome(account.iam.send(new GetRoleCommand({ RoleName: roleOf(addon) })));
const domain = "lime.example.com";

let repository: Checkout;
let zone: HostedZone;

/** Whether the HelmReleases and the Kustomizations of add-ons on the spoke are Ready, by name. */
const releases = async (): Promise<Record<string, string | undefined>> => {
  const kinds = ["helmreleases.helm.toolkit.fluxcd.io,kustomizations.kustomize.toolkit.fluxcd.io"];
  const { items } = await getOnSpoke(name, [...kinds, "--namespace", "flux-system"]);
  return Object.fromEntries(
    items.map(
      ({
        metadata,
        status,
      }: {
        metadata: { name: string };
        status?: { conditions?: { type: string; status: string }[] };
      }) => [metadata.name, status?.conditions?.find(({ type }) => type === "Ready")?.status],
    ),
  );
};

/** What `releases` says of these add-ons when they run. */
const ready = (addons: readonly string[]) =>
  Object.fromEntries(addons.map((addon) => [addon.replace("_", "-"), "True"]));

/** A Service that asks for a record; it leads outside, so that it needs no load balancer. */
const wanting = (host: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name: "door", namespace: "default", annotations: { "external-dns.alpha.kubernetes.io/hostname": host } },
  spec: { type: "ExternalName", externalName: "target.example.com" },
});

async function enable(addons: readonly string[], message: string): Promise<void> {
  await repository.edit(`spokes/fleet/${name}/spoke.yaml`, withSpec({ addons }));
  await repository.push(message);
}

beforeAll(async () => {
  await prepareAddons(instance, built);
  await upWith((config) => ({ ...config, metrics: "amp" }));
  zone = await hostedZone(domain);
  repository = await system();
  await addSpoke(repository, name, "dev", withSpec({ addons: [...all] }));
  await repository.push(`Add spoke ${name} with add-ons`);
  await untilReady(name, 900);
});
afterAll(async () => {
  await removeSpoke(repository, name);
  await zone.remove();
  await upWith((config) => config);
});

describe("the add-ons that a Spoke enables", () => {
  test("run on it at the same time", async () => {
    await eventually(300, async () => expect(await releases()).toMatchObject(ready(all)));
  });

  test("are told their roles by the bridge: external-dns writes the records that Services ask for, and takes them back", async () => {
    await onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify(wanting(`app.${domain}`)) });
    await eventually(180, async () =>
      expect(await zone.records()).toEqual(expect.arrayContaining([`app.${domain}. CNAME`])),
    );
    await onSpoke(name, ["delete", "service", "door", "--namespace", "default"]);
    await eventually(180, async () => expect(await zone.records()).toEqual([]));
  });

  test("issue certificates", async () => {
    const issuer = {
      apiVersion: "cert-manager.io/v1",
      kind: "Issuer",
      metadata: { name: "self", namespace: "default" },
      spec: { selfSigned: {} },
    };
    const certificate = {
      apiVersion: "cert-manager.io/v1",
      kind: "Certificate",
      metadata: { name: "door", namespace: "default" },
      spec: { secretName: "door-tls", dnsNames: [`app.${domain}`], issuerRef: { name: "self" } },
    };
    const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: [issuer, certificate] });
    await onSpoke(name, ["apply", "--filename", "-"], { input: list });
    await onSpoke(name, [
      ...["wait", "certificate/door", "--namespace", "default", "--for=condition=Ready", "--timeout=120s"],
    ]);
    await onSpoke(name, ["delete", "certificate/door", "issuer/self", "secret/door-tls", "--namespace", "default"]);
  });

  test("judge by the platform's rules: Kyverno's pods refuse a credential in a cluster secret, and let one without pass", async () => {
    const secret = (key: string) => ({
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: "cluster-other",
        namespace: "flux-system",
        labels: { "fleet.internal/cluster": "other", "fleet.internal/role": "spoke" },
      },
      stringData: { [key]: "value" },
    });
    const asked = (key: string) =>
      tryOnSpoke(name, ["create", "--dry-run=server", "--filename", "-"], { input: JSON.stringify(secret(key)) });
    // The API server's own policy has the same rule, and is asked first.
    const binding = ["validatingadmissionpolicybinding", "cluster-secret.fleet.internal"];
    const { apiVersion, kind, metadata, spec } = await getOnSpoke(name, binding);
    await onSpoke(name, ["delete", ...binding]);
    try {
      await eventually(180, async () => {
        const { code, stderr } = await asked("token");
        expect(code).not.toBe(0);
        expect(stderr).toContain("validate.kyverno.svc");
        expect(stderr).toContain(
          "a cluster secret holds facts about a cluster, never a credential: got the keys token",
        );
      });
      expect(await asked("cluster_name")).toMatchObject({ code: 0 });
    } finally {
      const own = { name: metadata.name, labels: metadata.labels };
      const manifest = JSON.stringify({ apiVersion, kind, metadata: own, spec });
      await onSpoke(name, ["apply", "--filename", "-"], { input: manifest });
    }
  });

  test("measure the spoke's node", async () => {
    await eventually(180, async () => {
      const { items } = JSON.parse(await onSpoke(name, ["get", "--raw", "/apis/metrics.k8s.io/v1beta1/nodes"]));
      expect(items).toHaveLength(1);
    });
  });
});

describe("the role of external-dns", () => {
  const subject = { namespace: "external-dns", name: "external-dns-sa" };
  const as = async ({ namespace, name: serviceAccount } = subject) =>
    assume(
      `arn:aws:iam::000000000000:role/${roleOf("external_dns")}`,
      await serviceAccountToken({ namespace, name: serviceAccount }, STS_AUDIENCE, on(name)),
    );
  const refused = async (call: Promise<unknown>) => expect(await outcome(call)).toMatch(/^AccessDenied/);

  test("lists zones and changes records, and does nothing else", async () => {
    const own = route53(await as());
    const { HostedZones = [] } = await own.send(new ListHostedZonesCommand({}));
    expect(HostedZones.map(({ Name }) => Name)).toContain(`${domain}.`);
    await refused(own.send(new DeleteHostedZoneCommand({ Id: zone.id })));
    await refused(own.send(new CreateHostedZoneCommand({ Name: "x.example.com", CallerReference: "x" })));
  });

  test("is for its service account alone", async () => {
    await refused(as({ namespace: "default", name: "default" }));
    await refused(as({ namespace: "cert-manager", name: "cert-manager" }));
  });
});

describe("buckets that applications order", () => {
  const files = bucketOf(name, "archive", "files");
  const scratch = bucketOf(name, "archive", "scratch");
  const others = bucketOf(name, "billing", "files");
  const key = "2026/invoice";
  const inArchive = (kind: string, object: string) => [`${kind}.s3.aws.m.upbound.io`, object, "--namespace", "archive"];
  let governance: Checkout;

  const push = async (message: string) => {
    await governance.push(message);
    await fetchNow(name, "gitops-workloads", "flux-system");
  };
  const deploy = (namespace: string, ...orders: object[]) =>
    governance.write(`clusters/${name}/${namespace}.yaml`, ...tenantObjects(governance, namespace), ...orders);
  const ready = async (args: readonly string[]) => {
    const { status } = await getOnSpoke(name, args);
    const found = (status?.conditions ?? []) as { type: string; status: string }[];
    return found.filter(({ type }) => ["Ready", "Synced"].includes(type)).map((each) => each.status);
  };
  const roleOfApp = (namespace: string) => `arn:aws:iam::000000000000:role/fleet-spoke-${name}_${namespace}`;
  const as = (namespace: string) => actingAs(roleOfApp(namespace), { namespace, name: namespace }, on(name));

  beforeAll(async () => {
    governance = await workloads();
    const goes = { managementPolicies: ["*"], annotations: { "fleet.internal/deletes": scratch } };
    await deploy(
      "archive",
      bucketObject(name, "archive", "files"),
      versioningObject("archive", "files"),
      bucketObject(name, "archive", "scratch", goes),
    );
    await deploy("billing", bucketObject(name, "billing", "files"));
    await push(`Let archive and billing order buckets on ${name}`);
  });
  afterAll(async () => {
    await governance.remove(`clusters/${name}`);
    await push(`Remove archive and billing from ${name}`);
    await eventually(300, async () => {
      for (const namespace of ["archive", "billing"])
        expect((await tryOnSpoke(name, ["get", "namespace", namespace])).stderr).toContain("NotFound");
    });
    for (const bucket of [files, others]) await removeBucket(account.s3, bucket);
  });

  test("come up with the cluster's tags, and keep versions where that is ordered too", async () => {
    await eventually(300, async () => {
      for (const object of ["files", "scratch"])
        expect(await ready(inArchive("buckets", object)), object).toEqual(["True", "True"]);
      expect(await ready(inArchive("bucketversionings", "files"))).toEqual(["True", "True"]);
    });
    const { TagSet = [] } = await account.s3.send(new GetBucketTaggingCommand({ Bucket: files }));
    expect(TagSet).toContainEqual({ Key: labelKeys.cluster, Value: name });
    const { Status } = await account.s3.send(new GetBucketVersioningCommand({ Bucket: files }));
    expect(Status).toBe("Enabled");
  });

  test("are read and written by the application's role, and by no other application's", async () => {
    let archive: Awaited<ReturnType<typeof as>> | undefined;
    // Its role and the role's policy come in their own time.
    await eventually(180, async () => {
      archive = await as("archive");
      expect(await outcome(put(archive.s3, files, key))).toBe("allowed");
    });
    const own = archive as Awaited<ReturnType<typeof as>>;
    expect(await read(own.s3, files, key)).toBe("an invoice");
    expect(await outcome(own.s3.send(new ListObjectsV2Command({ Bucket: files })))).toBe("allowed");
    expect(await outcome(put(own.s3, scratch, key))).toBe("allowed");
    expect(await outcome(own.s3.send(new DeleteObjectCommand({ Bucket: scratch, Key: key })))).toBe("allowed");
    const denied = expect.stringMatching(/^AccessDenied/);
    const attempts = async ({ s3 }: typeof own, bucket: string) => [
      await outcome(read(s3, bucket, key)),
      await outcome(put(s3, bucket, key)),
      await outcome(s3.send(new ListObjectsV2Command({ Bucket: bucket }))),
    ];
    await eventually(180, async () =>
      expect(await outcome(put((await as("billing")).s3, others, key))).toBe("allowed"),
    );
    expect(await attempts(own, others)).toEqual([denied, denied, denied]);
    expect(await attempts(await as("billing"), files)).toEqual([denied, denied, denied]);
    const policy = new PutBucketPolicyCommand({ Bucket: files, Policy: "{}" });
    expect(await outcome(own.s3.send(policy))).toEqual(denied);
  });

  test("stay in AWS with what is in them when Git no longer has them, but for an empty one whose removal was asked for twice", async () => {
    await deploy("archive");
    await push("Order no more buckets");
    await eventually(300, async () => {
      for (const object of ["files", "scratch"])
        expect((await tryOnSpoke(name, ["get", ...inArchive("buckets", object)])).stderr).toContain("NotFound");
    });
    expect(await read(account.s3, files, key)).toBe("an invoice");
    expect(await outcome(account.s3.send(new GetBucketVersioningCommand({ Bucket: scratch })))).toBe("NoSuchBucket");
  });

  test("are found again when they are ordered again", async () => {
    await deploy("archive", bucketObject(name, "archive", "files"));
    await push("Order the bucket again");
    await eventually(300, async () => expect(await ready(inArchive("buckets", "files"))).toEqual(["True", "True"]));
    expect(await read((await as("archive")).s3, files, key)).toBe("an invoice");
  });
});

describe("an add-on that is turned off", () => {
  test("goes, with its role, and the others stay", async () => {
    const off = ["external_dns", "kyverno", "s3_buckets"];
    const others = all.filter((addon) => !off.includes(addon));
    await enable(others, `Turn ${off.join(", ")} off on ${name}`);
    await eventually(300, async () => {
      for (const addon of off.map((each) => each.replace("_", "-")))
        expect(Object.keys(await releases())).not.toContain(addon);
      for (const namespace of ["external-dns", "kyverno"])
        expect((await tryOnSpoke(name, ["get", "namespace", namespace])).stderr).toContain("NotFound");
      // Without its pods they would refuse what they judge.
      const webhooks = await onSpoke(name, ["get", "validatingwebhookconfigurations", "--output", "name"]);
      expect(webhooks).not.toContain("kyverno");
      expect(await roleInAws("external_dns")).toMatch(/^NoSuchEntity/);
    });
    expect((await tryOnSpoke(name, ["get", "provider.pkg.crossplane.io", "provider-aws-s3"])).stderr).toContain(
      "NotFound",
    );
    expect(await roleInAws("cert_manager")).toBe("allowed");
    expect(await releases()).toMatchObject(ready(others));
    await untilReady(name);
    expect(await condition(name, "SpecAccepted")).toMatchObject({ status: "True" });
  });
});
