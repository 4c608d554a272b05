import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetBucketTaggingCommand,
  GetBucketVersioningCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutBucketPolicyCommand,
} from "@aws-sdk/client-s3";
import { prepareAddons } from "@eks-gitops-fleet/local/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bucketName } from "../../lib/iam/tenants.ts";
import { labelKeys } from "../../lib/labels.ts";
import { withSpec } from "../support/checkout.ts";
import { isReady } from "../support/cluster.ts";
import { outcome, succeed } from "../support/process.ts";
import { fetchNow } from "./support/apps.ts";
import { bucketOf, put, read, removeBucket } from "./support/bucket-tenant.ts";
import { account, eventually, instance, scratch } from "./support/fleet.ts";
import { actingAs } from "./support/identity.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  getOnSpoke,
  on,
  onSpoke,
  system,
  tryOnSpoke,
  untilGone,
  untilReady,
  workloads,
} from "./support/spokes.ts";

/** Backups (docs/guides/backup.md): the real Velero and its plugin, with role and bucket of the spoke. Volumes here are in the nodes' memory: no snapshots. */

const name = "olive"; // environment dev
const own = bucketOf(name, "velero", "backups");
/** That of a spoke that isn't there. */
const others = bucketName("fleet-spoke-lemon", "velero", "backups", "000000000000");
const app = "ledger";
const denied = expect.stringMatching(/^AccessDenied/);

let repository: Checkout;
let governance: Checkout;

const inVelero = (kind: string, ...args: readonly string[]) => [`${kind}.velero.io`, ...args, "--namespace", "velero"];
const object = (kind: string, objectName: string, spec: object): Editable => ({
  apiVersion: "velero.io/v1",
  kind,
  metadata: { name: objectName, namespace: "velero" },
  spec,
});
const apply = (...items: readonly object[]) =>
  onSpoke(name, ["apply", "--filename", "-"], { input: JSON.stringify({ apiVersion: "v1", kind: "List", items }) });
const phase = async (kind: string, objectName: string): Promise<string | undefined> =>
  (await getOnSpoke(name, inVelero(kind, objectName))).status?.phase;
const configMap = async (objectName: string): Promise<Editable | undefined> => {
  const { code } = await tryOnSpoke(name, ["get", "configmap", objectName, "--namespace", app]);
  return code === 0 ? getOnSpoke(name, ["configmap", objectName, "--namespace", app]) : undefined;
};
const keys = async (): Promise<string[]> => {
  const { Contents = [] } = await account.s3.send(new ListObjectsV2Command({ Bucket: own }));
  return Contents.map(({ Key = "" }) => Key);
};

/** Makes a backup of what the Schedule says, as `velero backup create --from-schedule` does, and waits until it is complete. */
async function backUp(backup: string): Promise<void> {
  const { spec } = await getOnSpoke(name, inVelero("schedules", "velero-applications"));
  await apply(object("Backup", backup, spec.template));
  await eventually(300, async () => expect(await phase("backups", backup)).toBe("Completed"));
}

/** Restores what Git doesn't have (docs/guides/backup.md), and waits until it is complete. */
async function restore(restoreName: string, backup: string): Promise<void> {
  const byFlux = ["kustomize.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/name"];
  const labelSelector = { matchExpressions: byFlux.map((key) => ({ key, operator: "DoesNotExist" })) };
  await apply(object("Restore", restoreName, { backupName: backup, includedNamespaces: [app], labelSelector }));
  await eventually(300, async () => expect(await phase("restores", restoreName)).toBe("Completed"));
}

/** What Git has of the application: its namespace, and a setting. */
async function deploy(setting: string, message: string): Promise<void> {
  await governance.write(
    `clusters/${name}/${app}.yaml`,
    {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: {
        name: app,
        labels: { [labelKeys.tenant]: "payments", "pod-security.kubernetes.io/enforce": "baseline" },
      },
    },
    { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "settings", namespace: app }, data: { setting } },
  );
  await governance.push(message);
  await fetchNow(name, "gitops-workloads", "flux-system");
  await eventually(180, async () => expect((await configMap("settings"))?.["data"]).toEqual({ setting }));
}

beforeAll(async () => {
  await prepareAddons(instance, ["velero"]);
  repository = await system();
  governance = await workloads();
  const addons = ["s3_buckets", "velero"];
  await addSpoke(repository, name, "dev", withSpec({ addons }));
  await repository.push(`Add spoke ${name} with backups`);
  await untilReady(name, 900);
  await eventually(300, async () => {
    for (const step of ["velero-bucket", "velero"]) {
      const found = await getOnSpoke(name, [
        "kustomizations.kustomize.toolkit.fluxcd.io",
        step,
        "--namespace",
        "flux-system",
      ]);
      expect(isReady(found), step).toBe(true);
    }
  });
  await account.s3.send(new CreateBucketCommand({ Bucket: others }));
});
afterAll(async () => {
  await governance.remove(`clusters/${name}`);
  await governance.push(`Remove ${app} from ${name}`);
  await fetchNow(name, "gitops-workloads", "flux-system");
  await repository.remove(`spokes/fleet/${name}`);
  await repository.push(`Remove spoke ${name}`);
  // Restores that are there don't hold it up.
  await untilGone(name);
  // The bucket and what is in it outlive the spoke.
  expect(await keys()).toContain("backups/nightly/velero-backup.json");
  await removeBucket(account.s3, own);
  await account.s3.send(new DeleteBucketCommand({ Bucket: others }));
});

describe("a spoke with backups", () => {
  test("has a bucket with the cluster's tags, which keeps versions, and reaches it", async () => {
    const { TagSet = [] } = await account.s3.send(new GetBucketTaggingCommand({ Bucket: own }));
    expect(TagSet).toContainEqual({ Key: labelKeys.cluster, Value: name });
    expect((await account.s3.send(new GetBucketVersioningCommand({ Bucket: own }))).Status).toBe("Enabled");
    await eventually(180, async () => expect(await phase("backupstoragelocations", "default")).toBe("Available"));
  });

  test("backs up what an application made itself, and no Secret", async () => {
    await deploy("first", `Deploy ${app} on ${name}`);
    const metadata = (objectName: string) => ({ name: objectName, namespace: app });
    await apply(
      { apiVersion: "v1", kind: "ConfigMap", metadata: metadata("state"), data: { cursor: "42" } },
      { apiVersion: "v1", kind: "Secret", metadata: metadata("own"), stringData: { token: "not in any backup" } },
    );
    await backUp("nightly");
    const tarball = "backups/nightly/nightly.tar.gz";
    expect(await keys()).toContain(tarball);
    const { Body } = await account.s3.send(new GetObjectCommand({ Bucket: own, Key: tarball }));
    const file = join(scratch, "nightly.tar.gz");
    writeFileSync(file, (await Body?.transformToByteArray()) ?? new Uint8Array());
    const entries = (await succeed("tar", ["--list", "--gzip", "--file", file])).split("\n");
    expect(entries).toContain(`resources/configmaps/namespaces/${app}/state.json`);
    expect(entries).toContain(`resources/namespaces/cluster/${app}.json`);
    const kinds = [...new Set(entries.map((entry) => entry.split("/")[1] ?? ""))];
    for (const kind of ["secrets", "serviceaccounts", "pods", "customresourcedefinitions.apiextensions.k8s.io"])
      expect(kinds).not.toContain(kind);
    // resources/<kind>/namespaces/<namespace>/<name>.json; beside it the same by version.
    const namespaces = entries.flatMap((entry) => /^resources\/[^/]+\/namespaces\/([^/]+)\//.exec(entry)?.[1] ?? []);
    expect([...new Set(namespaces)]).toEqual([app]);
  });

  test("finds the backups of a bucket that it doesn't know, as one that is made again under its name does", async () => {
    await onSpoke(name, ["delete", ...inVelero("backups", "nightly")]);
    await eventually(240, async () => expect(await phase("backups", "nightly")).toBe("Completed"));
  });

  test("brings back what Git doesn't have when the namespace is lost, and leaves Git what it has", async () => {
    await onSpoke(name, ["delete", "namespace", app]);
    await deploy("second", `Change ${app} on ${name}`);
    expect(await configMap("state")).toBeUndefined();
    await restore("after-a-loss", "nightly");
    expect((await configMap("state"))?.["data"]).toEqual({ cursor: "42" });
    expect((await configMap("settings"))?.["data"]).toEqual({ setting: "second" });
    expect((await tryOnSpoke(name, ["get", "secret", "own", "--namespace", app])).stderr).toContain("NotFound");
  });

  test("keeps versions of a backup that was deleted", async () => {
    await backUp("mistaken");
    await apply(object("DeleteBackupRequest", "mistaken", { backupName: "mistaken" }));
    const ofMistaken = (key: string) => key.startsWith("backups/mistaken/");
    await eventually(180, async () => expect((await keys()).filter(ofMistaken)).toEqual([]));
    const { Versions = [] } = await account.s3.send(new ListObjectVersionsCommand({ Bucket: own }));
    expect(Versions.map(({ Key = "" }) => Key).filter(ofMistaken)).toContain("backups/mistaken/mistaken.tar.gz");
  });
});

describe("Velero's role", () => {
  const arn = `arn:aws:iam::000000000000:role/fleet-spoke-${name}-addon-velero`;
  const as = () => actingAs(arn, { namespace: "velero", name: "velero-server" }, on(name));
  const key = "drill/object";

  test("reads and writes the spoke's own bucket, and no other", async () => {
    const { s3 } = await as();
    expect(await outcome(put(s3, own, key))).toBe("allowed");
    expect(await read(s3, own, key)).toBe("an invoice");
    expect(await outcome(s3.send(new ListObjectsV2Command({ Bucket: own })))).toBe("allowed");
    await put(account.s3, others, key);
    expect(await outcome(put(s3, others, key))).toEqual(denied);
    expect(await outcome(read(s3, others, key))).toEqual(denied);
    expect(await outcome(s3.send(new ListObjectsV2Command({ Bucket: others })))).toEqual(denied);
    await account.s3.send(new DeleteObjectCommand({ Bucket: others, Key: key }));
  });

  test("deletes objects, but no versions, and neither removes nor shares the bucket", async () => {
    const { s3 } = await as();
    expect(await outcome(s3.send(new DeleteObjectCommand({ Bucket: own, Key: key })))).toBe("allowed");
    const { Versions = [] } = await account.s3.send(new ListObjectVersionsCommand({ Bucket: own, Prefix: key }));
    const [{ VersionId } = {}] = Versions;
    expect(VersionId).toBeDefined();
    expect(await outcome(s3.send(new DeleteObjectCommand({ Bucket: own, Key: key, VersionId })))).toEqual(denied);
    expect(await outcome(s3.send(new DeleteBucketCommand({ Bucket: own })))).toEqual(denied);
    expect(await outcome(s3.send(new PutBucketPolicyCommand({ Bucket: own, Policy: "{}" })))).toEqual(denied);
  });

  test("is for its service account alone", async () => {
    const other = actingAs(arn, { namespace: "default", name: "default" }, on(name));
    expect(await outcome(other)).toEqual(denied);
  });
});
