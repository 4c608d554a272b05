import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ListRolesCommand } from "@aws-sdk/client-iam";
import { machineCidr } from "@eks-gitops-fleet/local/cli";
import { bareRepository } from "@eks-gitops-fleet/local/git";
import { type BuiltArgocd, ensureArgocd } from "@eks-gitops-fleet/local/toolchain";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { fleetNames } from "../../lib/names.ts";
import { withSpec } from "../support/checkout.ts";
import { isMissing } from "../support/cluster.ts";
import { APP, APP_REPOSITORY } from "./support/apps.ts";
import { type Argocd, startArgocd } from "./support/argocd.ts";
import {
  account,
  eventually,
  get,
  hub,
  instance,
  kubectl,
  pulumi,
  scratch,
  secretData,
  tryKubectl,
  upWith,
} from "./support/fleet.ts";
import type { Checkout, Editable } from "./support/repository.ts";
import {
  addSpoke,
  BOOTSTRAP_SECONDS,
  clusterOf,
  clusterOn,
  getOnSpoke,
  onSpoke,
  system,
  untilGone,
  untilReady,
} from "./support/spokes.ts";

/**
 * Argo CD on the hub (docs/guides/argocd.md): the stack and the Composition let it act on spokes, and it runs as it would in the hub's pods, on
 * this machine, with the service account's own tokens.
 */

const namespace = "argocd";
const inArgocd = ["--namespace", namespace];
const controller = "argocd-application-controller";
const spokes = { jade: "dev", lime: "prod" } as const;
type Name = keyof typeof spokes;
const names = Object.keys(spokes) as Name[];
const composition = "platform/composition/composition.yaml";
/** Seconds until a change of a Spoke or the stack has reached Argo CD, or Argo CD a spoke, on a machine that is busy. */
const SECONDS = 300;
const physical = fleetNames("fleet");

let repository: Checkout;
let built: BuiltArgocd;
let argocd: Argocd | undefined;

const apply = (...items: readonly object[]) =>
  kubectl(["apply", "--server-side", "--filename", "-"], {
    input: JSON.stringify({ apiVersion: "v1", kind: "List", items }),
  });
const documentsOf = (text: string): Editable[] => parseAllDocuments(text).map((document) => document.toJS());
const definitions = () =>
  readdirSync(built.definitions)
    .flatMap((name) => documentsOf(readFileSync(join(built.definitions, name), "utf8")))
    .filter(({ kind }) => kind === "CustomResourceDefinition");

/** What the hub's Argo CD is set to in Git. */
function settingsInGit(): Record<string, string> {
  const release = join(repository.folder, "platform", "hub", "argocd", "release", "release.yaml");
  const found = documentsOf(readFileSync(release, "utf8")).find(({ kind }) => kind === "HelmRelease");
  const settings: Record<string, unknown> = found.spec.values.configs.cm;
  return Object.fromEntries(Object.entries(settings).map(([key, value]) => [key, String(value)]));
}

/** An example of the guide, over the repository on the instance's Git server. */
function example(name: string): Editable {
  const text = readFileSync(
    join(repository.folder, "platform", "hub", "argocd", "applications", "example", `${name}.yaml`),
    "utf8",
  );
  const here = `file://${bareRepository(instance, APP_REPOSITORY)}`;
  return parse(text.replaceAll(`https://git.example.com/${APP_REPOSITORY}.git`, here).replace("v1.0.0", "main"));
}

/** The parts of an installation that a chart makes, but for its pods: Argo CD has rights in its own namespace of the hub only. */
async function install(): Promise<void> {
  await apply(...definitions());
  const kinds = definitions().map(({ metadata }) => metadata.name);
  // kubectl fails where nothing has noted a condition yet.
  await eventually(60, () => kubectl(["wait", "crd", ...kinds, "--for=condition=Established", "--timeout=30s"]));
  const rbac = "rbac.authorization.k8s.io";
  const own = { name: controller, namespace };
  const part = { "app.kubernetes.io/part-of": "argocd" };
  await apply(
    { apiVersion: "v1", kind: "ServiceAccount", metadata: own },
    {
      apiVersion: `${rbac}/v1`,
      kind: "Role",
      metadata: own,
      rules: [
        { apiGroups: ["argoproj.io"], resources: ["*"], verbs: ["*"] },
        { apiGroups: [""], resources: ["secrets", "configmaps"], verbs: ["get", "list", "watch"] },
        { apiGroups: [""], resources: ["events"], verbs: ["create", "list", "patch"] },
        { apiGroups: ["apps"], resources: ["deployments"], verbs: ["get", "list", "watch"] },
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["*"] },
      ],
    },
    {
      apiVersion: `${rbac}/v1`,
      kind: "RoleBinding",
      metadata: own,
      roleRef: { apiGroup: rbac, kind: "Role", name: controller },
      subjects: [{ kind: "ServiceAccount", ...own }],
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "argocd-cm", namespace, labels: part },
      data: settingsInGit(),
    },
    { apiVersion: "v1", kind: "Secret", metadata: { name: "argocd-secret", namespace, labels: part } },
  );
}

/** A token of Argo CD's service account: for the hub's API server, or for an audience. */
const token = async (...audience: string[]) =>
  (await kubectl(["create", "token", controller, ...inArgocd, "--duration", "3h", ...audience])).trim();

async function start(): Promise<Argocd> {
  const dir = join(scratch, "argocd");
  mkdirSync(dir);
  const { argocd_iam_role_arn: roleArn = "", aws_region: region = "" } = await secretData("flux-system", "cluster-hub");
  const tokenFile = join(dir, "web-identity-token");
  writeFileSync(tokenFile, await token("--audience", "sts.amazonaws.com"), { mode: 0o600 });
  const { users, ...config } = parse(readFileSync(instance.paths.kubeconfig, "utf8"));
  const kubeconfig = join(dir, "kubeconfig");
  const user = { name: users[0].name, user: { token: await token() } };
  writeFileSync(kubeconfig, JSON.stringify({ ...config, users: [user] }), { mode: 0o600 });
  return startArgocd({
    ...{ built, dir, kubeconfig, namespace, roleArn, tokenFile },
    address: instance.loopbackAddress,
    aws: { address: instance.gatewayAddress, caBundle: instance.paths.caCertificate, region },
    direct: [instance.cidr],
  });
}

const applications = async (): Promise<Editable[]> => (await get(["applications.argoproj.io", ...inArgocd])).items;

/** Waits until the application runs on a spoke as Git has it. */
const untilDeployed = (name: Name) =>
  eventually(SECONDS, async () => {
    argocd?.check();
    const [found] = (await applications()).filter(({ metadata }) => metadata.name === `${APP}-${name}`);
    expect(found?.status, JSON.stringify(found?.status)).toMatchObject({
      sync: { status: "Synced" },
      health: { status: "Healthy" },
    });
    const { status } = await getOnSpoke(name, ["deployment", APP, "--namespace", APP]);
    expect(status.availableReplicas).toBeGreaterThan(0);
  });

const setInput = (argocdInput: object | undefined) =>
  repository.edit(composition, (object) => {
    const [step] = object.spec.pipeline;
    step.input.argocd = argocdInput;
    return object;
  });

beforeAll(async () => {
  built = await ensureArgocd(console.log);
  await upWith((config) => ({ ...config, argocdClusterSecret: true, argocdSpokes: true }));
  repository = await system();
  await setInput({ namespaces: [APP] });
  for (const name of names)
    await addSpoke(repository, name, spokes[name], undefined, ["--public-access-cidr", machineCidr]);
  await repository.push(`Let Argo CD act on spokes, and add ${names.join(" and ")}`);
  for (const name of names) {
    await untilReady(name, 2 * BOOTSTRAP_SECONDS);
    await onSpoke(name, ["create", "namespace", APP]);
  }
  await install();
  argocd = await start();
});

/** Lets Applications and projects of a test that failed go without Argo CD, which would remove what they made. */
async function letGo(): Promise<void> {
  await tryKubectl(["delete", "applicationset", "--all", ...inArgocd, "--cascade=orphan"]);
  const { stdout } = await tryKubectl([
    ...["get", "applications.argoproj.io,appprojects.argoproj.io"],
    ...[...inArgocd, "--output", "name"],
  ]);
  for (const name of stdout.split("\n").filter(Boolean))
    await tryKubectl(["patch", name, ...inArgocd, "--type=merge", "--patch", '{"metadata":{"finalizers":null}}']);
}

afterAll(async () => {
  await argocd?.stop();
  await letGo();
  await repository?.restore();
  for (const name of names) await untilGone(name);
  if (built !== undefined)
    await tryKubectl(["delete", "crd", "--ignore-not-found", ...definitions().map(({ metadata }) => metadata.name)]);
  await pulumi(["up", "--yes", "--skip-preview"]);
});

describe("Argo CD on the hub", () => {
  test("knows the hub and its spokes by cluster secrets with the facts of the bridge and the name of a role, and no credential", async () => {
    const selector = ["--selector", "argocd.argoproj.io/secret-type=cluster"];
    await eventually(SECONDS, async () => {
      const { items } = await get(["secrets", ...inArgocd, ...selector]);
      const found = items.map(({ metadata }: Editable) => metadata.name).sort();
      expect(found).toEqual(["cluster-hub", ...names.map((name) => `cluster-${name}`)]);
    });
    for (const name of names) {
      await eventually(SECONDS, async () => {
        const { metadata } = await get(["secret", `cluster-${name}`, ...inArgocd]);
        expect(metadata.labels).toMatchObject({ cluster_name: name, environment: spokes[name], tenant: "payments" });
        expect(metadata.annotations).toMatchObject(await secretData("spokes", `cluster-${name}`));
      });
      const { config = "", ...data } = await secretData(namespace, `cluster-${name}`);
      expect(data).toEqual({
        name,
        server: expect.stringMatching(/^https:/),
        namespaces: APP,
        clusterResources: "false",
      });
      expect(JSON.parse(config)).toEqual({
        awsAuthConfig: {
          clusterName: clusterOf(name),
          roleARN: expect.stringMatching(new RegExp(`:role/${physical.argocdSpokesRole}$`)),
        },
        tlsClientConfig: { insecure: false, caData: expect.any(String) },
      });
    }
    expect(await secretData(namespace, "cluster-hub")).toMatchObject({
      namespaces: namespace,
      clusterResources: "false",
    });
    const { items } = await get(["secrets", ...inArgocd]);
    const decoded = items.flatMap(({ data = {} }: Editable) => Object.values<string>(data).map((value) => atob(value)));
    // A service account's token, or one of EKS.
    for (const value of decoded) expect(value).not.toMatch(/eyJ[\w-]+\.eyJ|k8s-aws-v1\.|BEGIN [A-Z ]*PRIVATE KEY/);
  });

  test("puts the sample application on the spokes that an ApplicationSet chooses by label, with facts of the bridge", async () => {
    await apply(example("project"), example("applicationset"));
    for (const name of names) await untilDeployed(name);
    expect((await applications()).map(({ metadata }) => metadata.name).sort()).toEqual(
      names.map((name) => `${APP}-${name}`),
    );
    for (const name of names) {
      const { spec } = await getOnSpoke(name, ["deployment", APP, "--namespace", APP]);
      expect(spec.replicas).toBe(spokes[name] === "prod" ? 2 : 1);
      expect(spec.template.spec.containers[0].env).toContainEqual({
        name: "PAYMENTS_TABLE",
        value: `${clusterOf(name)}_${APP}_payments`,
      });
    }
  });

  test("removes it from a spoke that loses the label, and nowhere else", async () => {
    await repository.edit("spokes/fleet/jade/spoke.yaml", withSpec({ tenant: "search" }));
    await repository.push("Give jade to another team");
    await eventually(SECONDS, async () => {
      argocd?.check();
      expect((await applications()).map(({ metadata }) => metadata.name)).toEqual([`${APP}-lime`]);
      expect(await isMissing(clusterOn("jade"), ["deployment", APP, "--namespace", APP])).toBe(true);
    });
    await untilDeployed("lime");
  });

  test("leaves nothing when it is turned off: no application, no cluster secret, no access, no role", async () => {
    // Both at once, as Flux prunes them.
    const both = [`appprojects.argoproj.io/${example("project").metadata.name}`, `applicationsets.argoproj.io/${APP}`];
    await kubectl(["delete", ...both, ...inArgocd, "--wait=false"]);
    await eventually(SECONDS, async () => {
      argocd?.check();
      expect(await applications()).toEqual([]);
      for (const gone of both) expect(await isMissing(hub, [gone, ...inArgocd])).toBe(true);
      expect(await isMissing(clusterOn("lime"), ["deployment", APP, "--namespace", APP])).toBe(true);
    });
    await setInput(undefined);
    await repository.push("Give Argo CD no namespaces on spokes");
    await eventually(SECONDS, async () => {
      for (const name of names) {
        expect(await isMissing(hub, ["secret", `cluster-${name}`, ...inArgocd])).toBe(true);
        const left = await get([
          "accessentries.eks.aws.m.upbound.io,accesspolicyassociations.eks.aws.m.upbound.io",
          "--namespace",
          "spokes",
        ]);
        expect(left.items.filter(({ metadata }: Editable) => metadata.name.endsWith("-argocd"))).toEqual([]);
      }
    });
    await argocd?.stop();
    argocd = undefined;
    await pulumi(["up", "--yes", "--skip-preview"]);
    expect(await isMissing(hub, ["namespace", namespace])).toBe(true);
    expect(await secretData("flux-system", "cluster-hub")).not.toHaveProperty("argocd_iam_role_arn");
    const { Roles = [] } = await account.iam.send(new ListRolesCommand({ MaxItems: 1000 }));
    expect(Roles.map(({ RoleName }) => RoleName)).toContain(physical.identityRole("crossplane-iam"));
    expect(Roles.filter(({ RoleName = "" }) => RoleName.startsWith(physical.argocdRole))).toEqual([]);
    for (const name of names) await untilReady(name);
  });
});
