import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { writeKubeconfig } from "../../../clusters/kubeconfig.ts";
import { type Authority, clusterAuthority, ensureAuthority, ensureServiceAccountKey } from "../../../clusters/pki.ts";
import { clusterAt, instanceAt } from "../../../instance/addresses.ts";
import { scratch } from "../../support/scratch.ts";

describe("certificates of a cluster", () => {
  let dir: string;
  let authority: Authority;

  beforeAll(async () => {
    dir = scratch("fleet-pki-");
    authority = await ensureAuthority(dir, "ca", "hub-ca");
  });

  const load = async (path: string) => new X509Certificate(await readFile(path));

  test("a certificate names user, groups and addresses, and is signed by the authority", async () => {
    const files = await authority.issue("kubelet", {
      commonName: "system:node:n1",
      organizations: ["system:nodes"],
      addresses: ["n1.ec2.internal", "100.64.0.2"],
    });
    const [certificate, ca] = await Promise.all([load(files.certificate), load(authority.files.certificate)]);
    expect(certificate.subject).toBe("O=system:nodes\nCN=system:node:n1");
    expect(certificate.checkHost("n1.ec2.internal")).toBe("n1.ec2.internal");
    expect(certificate.checkIP("100.64.0.2")).toBe("100.64.0.2");
    expect(certificate.checkIP("100.64.0.3")).toBeUndefined();
    expect(certificate.verify(ca.publicKey)).toBe(true);
    expect(certificate.checkIssued(ca)).toBe(true);
    expect([certificate.ca, ca.ca]).toEqual([false, true]);
    expect(certificate.checkPrivateKey(createPrivateKey(await readFile(files.key)))).toBe(true);
    expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"]);
  });

  test("the authorities of a cluster have names within X.509's 64 characters, however long the cluster's is", async () => {
    const cluster = clusterAt(instanceAt(dir, 0), "c".repeat(100), 30);
    const authorities = [await clusterAuthority(cluster), await clusterAuthority(cluster, "front-proxy-ca")];
    const subjects = authorities.map(({ certificate }) => new X509Certificate(certificate).subject);
    expect(subjects).toEqual(["CN=cluster-30-ca", "CN=cluster-30-front-proxy-ca"]);
  });

  test("keys are for their owner only", async () => {
    const { key } = await authority.issue("admin", { commonName: "admin" });
    for (const path of [key, authority.files.key]) expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  test("what was made once stays: clients keep trusting it", async () => {
    const before = await authority.issue("stays", { commonName: "stays" });
    const content = await readFile(before.certificate, "utf8");
    const again = await ensureAuthority(dir, "ca", "hub-ca");
    expect(again.certificate).toBe(authority.certificate);
    const after = await again.issue("stays", { commonName: "stays" });
    expect(await readFile(after.certificate, "utf8")).toBe(content);
  });

  test("nodes that start side by side and share a certificate get the key that fits it", async () => {
    for (let round = 0; round < 10; round++) {
      const asked = Array.from({ length: 4 }, () => authority.issue(`proxy-${round}`, { commonName: "proxy" }));
      const [files] = await Promise.all(asked);
      const key = createPrivateKey(await readFile(files?.key ?? ""));
      expect((await load(files?.certificate ?? "")).checkPrivateKey(key)).toBe(true);
    }
  });

  test("service account tokens are signed with RSA 2048, as those of EKS", async () => {
    const files = await ensureServiceAccountKey(dir);
    const key = createPrivateKey(await readFile(files.key));
    expect(key.asymmetricKeyDetails?.modulusLength).toBe(2048);
    const published = createPublicKey(await readFile(files.publicKey)).export({ format: "jwk" });
    expect(published).toEqual(createPublicKey(key).export({ format: "jwk" }));
    expect(await ensureServiceAccountKey(dir)).toEqual(files);
  });

  test("a kubeconfig holds all data itself, and only its owner can read it", async () => {
    const path = join(dir, "admin.kubeconfig");
    await writeKubeconfig(
      path,
      "https://100.64.254.1",
      authority,
      await authority.issue("admin", { commonName: "admin" }),
    );
    const config = JSON.parse(await readFile(path, "utf8")) as {
      clusters: { cluster: Record<string, string> }[];
      users: { user: Record<string, string> }[];
    };
    const ca = Buffer.from(config.clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString();
    expect(ca).toBe(authority.certificate);
    expect(Object.keys(config.users[0]?.user ?? {})).toEqual(["client-certificate-data", "client-key-data"]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
