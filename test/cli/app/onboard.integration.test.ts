import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import ssh2 from "ssh2";
import { describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { onboardApp } from "../../../cli/app/folder.ts";
import type { AppRequest } from "../../../cli/app/rules.ts";
import { systemBeside } from "../../../cli/app/system.ts";
import { fromBase64 } from "../../../lib/base64.ts";
import { request } from "../support/apps.ts";
import { inNewCases } from "../support/cases.ts";
import { certificate, knownHosts, newCase, privateHalf } from "../support/fleet.ts";

const { at, base, dev } = await inNewCases("fleet-onboard-", "gitops-workloads");

const onboard = (change: Partial<AppRequest> = {}, hosts?: string) =>
  onboardApp(at.checkout, { ...request, ...change }, async () => at.fleet, { knownHosts: hosts });

describe("fleet onboard", () => {
  test("makes the application's folder on its cluster, complete by its own kustomization.yaml", async () => {
    const { folder } = await onboard();
    expect(folder).toBe(join(at.checkout, "clusters", "blue", "payment-app"));
    for (const name of parse(readFileSync(join(folder, "kustomization.yaml"), "utf8")).resources)
      expect(existsSync(join(folder, name)), name).toBe(true);
    const [source, sync] = parseAllDocuments(readFileSync(join(folder, "sync.yaml"), "utf8")).map((each) =>
      each.toJS(),
    );
    expect(source.spec).toMatchObject({ url: request.repositoryUrl, ref: { branch: "main" } });
    expect(sync.spec.path).toBe("./overlays/dev");
    expect(source.spec.secretRef.name).toBe(parse(readFileSync(join(folder, "credential.yaml"), "utf8")).metadata.name);
  });

  test("makes a deploy key of the application's own, sealed with the host keys that the fleet trusts", async () => {
    const { publicKey } = await onboard();
    const [call] = at.kubeseal.calls();
    const data = fromBase64(call?.input.data ?? {});
    expect(data).toMatchObject({ "identity.pub": publicKey, known_hosts: knownHosts });
    expect(data["identity"]).not.toContain(privateHalf);
    const key = ssh2.utils.parseKey(data["identity"] ?? "");
    if (key instanceof Error || Array.isArray(key)) return expect.fail(String(key));
    expect(key.isPrivateKey()).toBe(true);
    expect(publicKey).toBe(`ssh-ed25519 ${key.getPublicSSH().toString("base64")} payment-app@blue`);
  });

  test("two clusters get two keys", async () => {
    const [blue, green] = [await onboard(), await onboard({ cluster: "green" })];
    expect(blue.publicKey?.split(" ")[1]).not.toBe(green.publicKey?.split(" ")[1]);
  });

  test("writes the private half nowhere", async () => {
    const { folder } = await onboard();
    expect(at.kubeseal.calls()[0]?.argv.join(" ")).not.toContain("PRIVATE KEY");
    expect(readFileSync(join(folder, "credential.yaml"), "utf8")).not.toContain("PRIVATE KEY");
  });

  test.each<[string, Partial<AppRequest>]>([
    ["<app>", { app: "Payment" }],
    ["<app>", { app: "flux-system" }],
    ["<app>", { app: "kube-public" }],
    ["<app>", { app: "123" }],
    ["--cluster", { cluster: "hub" }],
    ["--cluster", { cluster: "../blue" }],
    ["--tenant", { tenant: "The Team" }],
    ["--repository-url", { repositoryUrl: "git@git.fleet.internal:payment-app-manifests.git" }],
    ["--repository-url", { repositoryUrl: "http://git.fleet.internal/payment-app-manifests.git" }],
    ["--repository-url", { repositoryUrl: "https://git:t0ps3cret@git.fleet.internal/payment-app-manifests.git" }],
    ["--token-file", { repositoryUrl: "https://git.fleet.internal/payment-app-manifests.git" }],
    ["--repository-url", { repositoryUrl: "ssh://git@git.fleet.internal/a.git\nkind: Secret" }],
    ["--sealing", { sealing: "tenant" as never }],
    ["--aws-kind", { awsKinds: ["Table"] }],
    ["--aws-kind", { awsKinds: ["iam.Role"] }],
    ["--aws-kind", { awsKinds: ["none", "sqs.Queue"] }],
    ["<app>", { app: "cert-manager" }],
    ["--revision", { revision: "-x" }],
    ["--revision", { revision: "1.10" }],
    ["--path", { path: "./../other" }],
    ["--path", { path: "overlays/dev" }],
  ])("refuses a wrong %s before anything is asked or written: %j", async (key, change) => {
    const asked = () => Promise.reject(new Error("asked the fleet"));
    await expect(onboardApp(at.checkout, { ...request, ...change }, asked)).rejects.toThrow(
      new RegExp(`1 problem in fleet onboard, nothing was changed:\n  1\\. ${key}: `),
    );
    expect(existsSync(join(at.checkout, "clusters", "blue"))).toBe(false);
  });

  test("refuses a name that makes a longer IAM role than AWS takes, with how much it is too long", async () => {
    await expect(onboard({ app: "a".repeat(60) })).rejects.toThrow("at most 64 characters");
  });

  test("refuses a Git host whose key is not known, until its known_hosts line is given", async () => {
    const change = { repositoryUrl: "ssh://git@github.com/example/payment-app-manifests.git" };
    await expect(onboard(change)).rejects.toThrow("names the Git host github.com, whose key is not known");
    await onboard(change, "github.com ssh-ed25519 AAAA");
    const { known_hosts } = fromBase64(at.kubeseal.calls()[0]?.input.data ?? {});
    expect(known_hosts).toBe("github.com ssh-ed25519 AAAA");
  });

  test("never touches an application that is there", async () => {
    await onboard();
    await expect(onboard()).rejects.toThrow("<app>: already has a folder on this cluster");
    expect(at.kubeseal.calls()).toHaveLength(1);
  });

  test("seals for the spoke alone where its Spoke says so", async () => {
    const own = await certificate();
    at.fleet = { ...at.fleet, certificates: { dev, "cluster-blue": own } };
    await onboard({ sealing: "cluster" });
    expect(at.kubeseal.calls().map(({ certificate: used }) => used)).toEqual([own]);
  });

  test("asks for whom to seal where the fleet has a key of the spoke's own: a guess could open it to other spokes", async () => {
    at.fleet = { ...at.fleet, certificates: { dev, "cluster-blue": dev } };
    await expect(onboard()).rejects.toThrow(/--sealing: must be named[\s\S]*spokes\/<fleet>\/blue\/spoke.yaml/);
    expect(existsSync(join(at.checkout, "clusters", "blue"))).toBe(false);
    await onboard({ sealing: "environment" });
  });

  test("does not ask where only other spokes have keys of their own", async () => {
    at.fleet = { ...at.fleet, certificates: { dev, "cluster-blue-2": dev } };
    await onboard();
    expect(at.kubeseal.calls()).toHaveLength(1);
  });

  test("lets the namespace order tables and queues, or the kinds that are named", async () => {
    const namespaceOf = async (app: string, awsKinds?: readonly string[]) => {
      const { folder } = await onboard({ app, awsKinds });
      const text = readFileSync(join(folder, "namespace.yaml"), "utf8");
      const [namespace] = parseAllDocuments(text).map((each) => each.toJS());
      return { text, annotations: namespace.metadata.annotations };
    };
    const all = await namespaceOf("everything");
    expect(all.annotations).toBeUndefined();
    const one = await namespaceOf("ledger", ["dynamodb.Table"]);
    expect(one.annotations).toEqual({ "fleet.internal/aws-kinds": "dynamodb.Table" });
    // The rest is the template's, with its comments.
    const added = "  annotations:\n    fleet.internal/aws-kinds: dynamodb.Table\n";
    expect(one.text.replace(added, "")).toBe(all.text.replaceAll("everything", "ledger"));
    const both = await namespaceOf("both", ["dynamodb.Table", "sqs.Queue", "sqs.Queue"]);
    expect(both.annotations).toEqual({ "fleet.internal/aws-kinds": "dynamodb.Table sqs.Queue" });
    const buckets = await namespaceOf("archive", ["s3.Bucket"]);
    expect(buckets.annotations).toEqual({ "fleet.internal/aws-kinds": "s3.Bucket" });
    expect((await namespaceOf("website", ["none"])).annotations).toEqual({ "fleet.internal/aws-kinds": "" });
  });

  test("writes nothing where the kinds can't be narrowed: without an annotation the application could order every kind", async () => {
    writeFileSync(join(at.checkout, "templates", "app", "namespace.yaml"), "kind: ResourceQuota\n");
    await expect(onboard({ awsKinds: ["sqs.Queue"] })).rejects.toThrow("namespace.yaml has no Namespace to annotate");
    expect(existsSync(join(at.checkout, "clusters", "blue"))).toBe(false);
  });

  test("names the environments that can be sealed for", async () => {
    await expect(onboard({ environment: "prod" })).rejects.toThrow(
      "the fleet has no sealing key of scope prod; it has dev: append { scope: prod",
    );
  });
});

describe("fleet onboard on a cluster that the fleet does not have", () => {
  /** A checkout of gitops-system with the spokes blue of this fleet, and red of another. */
  function system(): string {
    const { checkout } = newCase(base, "gitops-system", { dev });
    for (const spoke of ["fleet/blue", "other/red"]) {
      mkdirSync(join(checkout, "spokes", spoke), { recursive: true });
      writeFileSync(join(checkout, "spokes", spoke, "spoke.yaml"), "kind: Spoke\n");
    }
    return checkout;
  }
  const onboardIn = (cluster: string, checkout: string) =>
    onboardApp(at.checkout, { ...request, cluster }, async () => at.fleet, {}, checkout);

  test("is refused, with the clusters that there are, before anything is written", async () => {
    const folder = system();
    for (const cluster of ["green", "red"])
      await expect(onboardIn(cluster, folder)).rejects.toThrow(
        new RegExp(`--cluster: is not a spoke of fleet in .*\\n\\s+got: +${cluster}\\n\\s+allowed: blue\\n`),
      );
    expect(existsSync(join(at.checkout, "clusters"))).toBe(false);
    expect(at.kubeseal.calls()).toEqual([]);
  });

  test("with another environment or sealing than its Spoke's is refused, for nothing could be opened there", async () => {
    const folder = system();
    const spoke = join(folder, "spokes", "fleet", "blue", "spoke.yaml");
    writeFileSync(spoke, "kind: Spoke\nspec: { environment: prod, sealing: cluster }\n");
    const refused = onboardApp(at.checkout, { ...request, sealing: "environment" }, async () => at.fleet, {}, folder);
    await expect(refused).rejects.toThrow(
      /--environment: is not that of the spoke blue[\s\S]*got: +dev\n +allowed: prod, as .*blue\/spoke\.yaml says\n +do: +leave --environment out/,
    );
    await expect(refused).rejects.toThrow(/--sealing: is not that of the spoke blue[\s\S]*allowed: cluster/);
    expect(existsSync(join(at.checkout, "clusters"))).toBe(false);
    writeFileSync(spoke, "kind: Spoke\nspec: { environment: dev }\n");
    await onboardIn("blue", folder);
  });

  test("whose Spoke lacks the add-on is refused an application that orders buckets", async () => {
    const folder = system();
    const spoke = join(folder, "spokes", "fleet", "blue", "spoke.yaml");
    const asked = { ...request, awsKinds: ["s3.Bucket"] };
    const refused = onboardApp(at.checkout, asked, async () => at.fleet, {}, folder);
    await expect(refused).rejects.toThrow(/--aws-kind: s3\.Bucket needs the add-on s3_buckets on the spoke blue/);
    expect(existsSync(join(at.checkout, "clusters"))).toBe(false);
    writeFileSync(spoke, "kind: Spoke\nspec: { addons: [s3_buckets] }\n");
    await onboardApp(at.checkout, asked, async () => at.fleet, {}, folder);
  });

  test("says so where the fleet has no spoke at all", async () => {
    const folder = system();
    rmSync(join(folder, "spokes", "fleet", "blue"), { recursive: true });
    await expect(onboardIn("blue", folder)).rejects.toThrow("allowed: (the fleet has no spokes)");
  });

  test("is looked up beside gitops-workloads, or where it is said", () => {
    const folder = system();
    expect(systemBeside(join(dirname(folder), "gitops-workloads"), undefined)).toBe(folder);
    expect(systemBeside(at.checkout, folder)).toBe(folder);
    expect(systemBeside(at.checkout, undefined)).toBeUndefined();
    expect(systemBeside(at.checkout, base)).toBeUndefined();
  });
});
