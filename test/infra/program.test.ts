import { createHash } from "node:crypto";
import { rootCertificates } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { placeProblem, spokePlaces } from "../../infra/accounts.ts";
import { alertRules } from "../../infra/alert-rules.ts";
import { fromBase64 } from "../../lib/base64.ts";
import type { PolicyDocument } from "../../lib/iam/policy.ts";
import { crossplaneServices, fleetBoundaries, fleetNames, hubIdentities } from "../../lib/names.ts";
import { refusal } from "../repos/support/admission.ts";
import type { Manifest } from "../repos/support/kustomize.ts";
import { expectGolden } from "../support/golden.ts";
import { allowed, readPolicy } from "../support/iam.ts";
import { type Registered, type Run, runStack, stackConfig } from "../support/program.ts";

/**
 * The whole program against mocks. This proves what the program asks the engine for, not that AWS or Kubernetes accept it.
 * After an intended change: npm run generate
 */
const runs: Record<string, Run> = {};

beforeAll(async () => {
  for (const stack of ["dev", "prod"]) runs[stack] = await runStack(stack);
  // A ceiling, not a measure: the first run loads the provider SDKs, on machines that do other things too.
}, 120_000);

const run = (stack: string): Run => {
  const found = runs[stack];
  if (!found) throw new Error(`stack ${stack} was not run`);
  return found;
};
const id = ({ type, name }: Registered) => `${type}::${name}`;
const sorted = (resources: readonly Registered[]) => [...resources].sort((a, b) => (id(a) < id(b) ? -1 : 1));
const one = (stack: string, key: string): Registered => {
  const found = run(stack).resources.filter((resource) => id(resource) === key);
  expect(found, key).toHaveLength(1);
  return found[0] as Registered;
};

/** Options that most resources have: a golden file leaves them out. */
const usual: Partial<Registered> = {
  custom: true,
  deleteTimeout: "",
  dependencies: [],
  protect: false,
  provider: "::",
  secrets: [],
};
const registered = (stack: string) =>
  Object.fromEntries(
    sorted(run(stack).resources).map((resource) => {
      const { type, name, ...rest } = resource;
      const unusual = Object.entries(rest).filter(([key, value]) => !isDeepStrictEqual(value, usual[key as "custom"]));
      return [`${type}::${name}`, Object.fromEntries(unusual)];
    }),
  );

describe("the resources, with their inputs, options and dependencies", () => {
  it("are exactly these in dev", () => expectGolden("golden/dev.yaml", registered("dev")));

  it("are these in prod, as the difference from dev under the names of dev", async () => {
    const text = JSON.stringify(registered("prod"));
    expect(text).not.toMatch(/fleet-dev|"dev"/);
    const named = text.replaceAll("fleet-prod", "fleet-dev").replaceAll('"prod"', '"dev"');
    await expectGolden("golden/prod.diff.yaml", JSON.parse(named), registered("dev"));
  });
});

describe.each(["dev", "prod"])("stack %s", (stack) => {
  it("gives each resource another name: the golden files have all of them, and a changed one would replace a resource", () => {
    const names = run(stack).resources.map(id);
    expect(new Set(names).size).toBe(names.length);
  });

  it("parents every resource to a component whose name begins its own", () => {
    const orphans = run(stack).resources.filter(({ custom, parent, name, type }) => {
      const parentName = parent.split("::")[1] ?? "";
      if (!parentName) return custom || !type.startsWith("eks-gitops-fleet:index:");
      return !(name.startsWith(parentName) || type.startsWith("eks-gitops-fleet:index:"));
    });
    expect(orphans.map(id)).toEqual([]);
  });

  it("tags every AWS resource that can have tags with its fleet and cluster", () => {
    const taggable =
      /^(aws:(ec2\/(vpc|subnet|internetGateway|natGateway|eip|routeTable|vpcEndpoint|launchTemplate|defaultSecurityGroup)|iam\/(role|policy)|kms\/key|secretsmanager\/secret|cloudwatch\/logGroup|eks\/(addon|accessEntry)):|eks:index:)/;
    const resources = run(stack).resources.filter(({ type }) => taggable.test(type));
    expect(resources.length).toBeGreaterThan(20);
    for (const resource of resources) {
      expect(resource.inputs["tags"], id(resource)).toMatchObject({
        "fleet.internal/fleet": `fleet-${stack}`,
        "fleet.internal/cluster": "hub",
      });
    }
  });

  it("marks keys and credentials as secrets, wherever they stand", () => {
    for (const { inputs, secrets } of run(stack).resources) {
      const plain = JSON.stringify(inputs, (_key, value: unknown) =>
        typeof value === "string" && /^(PEM|OPENSSH) |"(PEM|OPENSSH) /.test(value) ? "<secret>" : value,
      );
      if (plain.includes("<secret>")) expect(secrets.length).toBeGreaterThan(0);
    }
    expect(one(stack, "aws:secretsmanager/secretVersion:SecretVersion::git-gitops-system-version").secrets).toEqual([
      "secretString",
    ]);
    expect(one(stack, "kubernetes:core/v1:Secret::cluster-secret-bridge").secrets).toEqual(["data"]);
  });

  it("keeps the names that the guards have in their clusters", () => {
    const guards = [
      ["RootKustomizationGuard::root-guard", "spoke-guard.fleet.internal"],
      ["RemainingSpokesGuard::remaining-spokes-guard", "spoke-roll.fleet.internal"],
    ] as const;
    for (const [name, inCluster] of guards) {
      const component = `eks-gitops-fleet:index:${name}`;
      const below = run(stack).resources.filter(
        ({ parent, type }) => parent === component && type.includes("admissionregistration"),
      );
      expect(below).toHaveLength(2);
      for (const { inputs } of below) expect(inputs).toMatchObject({ metadata: { name: inCluster } });
    }
  });

  it("takes Flux's objects down first, then the controllers, then the nodes, then the network", () => {
    const needs = (key: string) => one(stack, key).dependencies;
    const release = (name: string) => `kubernetes:helm.sh/v3:Release::${name}-release`;
    expect(needs("kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization::gitops-system-root")).toContain(
      "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository::gitops-system-repository",
    );
    expect(needs("eks-gitops-fleet:index:FluxSync::gitops-system")).toEqual(
      expect.arrayContaining([
        release("flux"),
        release("crossplane"),
        release("external-secrets"),
        "kubernetes:core/v1:Secret::cluster-secret-bridge",
        "kubernetes:external-secrets.io/v1:SecretStore::secret-store-store",
        "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding::root-guard-binding",
      ]),
    );
    expect(needs("eks-gitops-fleet:index:RemainingSpokesGuard::remaining-spokes-guard")).toContain(
      "kubernetes:kustomize.toolkit.fluxcd.io/v1:Kustomization::gitops-system-root",
    );
    for (const component of ["Flux::flux", "Crossplane::crossplane", "ExternalSecrets::external-secrets"]) {
      expect(needs(`eks-gitops-fleet:index:${component}`)).toEqual(
        expect.arrayContaining([
          "eks:index:ManagedNodeGroup::hub-nodes-group",
          "aws:eks/addon:Addon::hub-nodes-coredns",
        ]),
      );
    }
    expect(needs("eks-gitops-fleet:index:HubNodes::hub-nodes")).toEqual(
      expect.arrayContaining(["aws:ec2/route:Route::hub-private-0-nat", "aws:ec2/route:Route::hub-public-internet"]),
    );
  });

  it("uses the hub's Kubernetes provider, never the caller's kubeconfig", () => {
    const foreign = run(stack).resources.filter(
      ({ type, provider }) =>
        type.startsWith("kubernetes:") && provider !== "pulumi:providers:kubernetes::hub-kubernetes",
    );
    expect(foreign.map(id)).toEqual([]);
  });

  it("trusts exactly one service account with each controller's role", () => {
    const issuer = "oidc.eks.eu-central-1.amazonaws.com/id/0123456789ABCDEF0123456789ABCDEF";
    const subjects = hubIdentities.map((name) => {
      const trust = JSON.parse(one(stack, `aws:iam/role:Role::${name}-role`).inputs["assumeRolePolicy"]);
      expect(trust.Statement).toHaveLength(1);
      expect(trust.Statement[0].Condition.StringEquals[`${issuer}:aud`]).toBe("sts.amazonaws.com");
      return trust.Statement[0].Condition.StringEquals[`${issuer}:sub`];
    });
    expect(subjects).toEqual([
      "system:serviceaccount:flux-system:aws-secrets-manager",
      ...["ec2", "eks", "iam", "kms", "cloudwatchlogs"].map(
        (service) => `system:serviceaccount:crossplane-system:provider-aws-${service}`,
      ),
      "system:serviceaccount:flux-system:kustomize-controller",
      "system:serviceaccount:flux-system:helm-controller",
    ]);
  });
});

describe("a stack with keys of a company for volumes", () => {
  const key = (id: number) => `arn:aws:kms:eu-central-1:222222222222:key/${id}234abcd-12ab-34cd-56ef-1234567890ab`;

  it("encrypts the hub's nodes with the first, and lets roles of spokes use all of them", async () => {
    const made = await runStack("dev", { volumeKeys: JSON.stringify([key(1), key(2)]) });
    const inputs = (name: string) => made.resources.find((each) => each.name === name)?.inputs ?? {};
    const [disk] = inputs("hub-nodes-template")["blockDeviceMappings"];
    expect(disk.ebs).toMatchObject({ encrypted: "true", kmsKeyId: key(1) });
    for (const name of ["fleet-boundary-policy", "auto-mode-boundary-policy"])
      for (const each of [key(1), key(2)]) expect(inputs(name)["policy"], name).toContain(each);
    const { volume_kms_key_arn: own, spoke_places: places = "" } = made.outputs["bridgeData"] as Record<string, string>;
    expect(own).toBe(key(1));
    expect(JSON.parse(places)["222222222222"]).toMatchObject({ volumeKeys: [key(1), key(2)] });
  });
});

describe("a stack with a key of a company for logs", () => {
  it("encrypts the hub's log group", async () => {
    const logKey = "arn:aws:kms:eu-central-1:222222222222:key/1234abcd-12ab-34cd-56ef-1234567890ab";
    const made = await runStack("dev", { logKey: logKey });
    expect(made.resources.find(({ name }) => name === "hub-logs")?.inputs["kmsKeyId"]).toBe(logKey);
  });
});

describe("a stack with tags of a company", () => {
  const tags = { "cost-center": "4711", owner: "platform" };

  it("has them on everything that has the fleet's, under these, and tells Git of them", async () => {
    const made = await runStack("dev", { tags: JSON.stringify(tags) });
    const fleets = one("dev", "aws:kms/key:Key::secrets-key").inputs["tags"] as object;
    const tagged = made.resources.filter(({ inputs }) => "fleet.internal/fleet" in Object(inputs["tags"]));
    const before = run("dev").resources.filter(({ inputs }) => "fleet.internal/fleet" in Object(inputs["tags"]));
    expect(tagged.map(id).sort()).toEqual(before.map(id).sort());
    const { Name: _, ...own } = fleets as Record<string, string>;
    for (const resource of tagged) expect(resource.inputs["tags"], id(resource)).toMatchObject({ ...tags, ...own });
    const template = made.resources.find(({ name }) => name === "hub-nodes-template")?.inputs ?? {};
    for (const { resourceType, tags: ofType } of template["tagSpecifications"])
      expect(ofType, resourceType).toMatchObject({ ...tags, ...own });
    const cluster = made.resources.find(({ type }) => type === "eks:index:Cluster")?.inputs ?? {};
    const { env } = cluster["vpcCniOptions"].configurationValues;
    expect(JSON.parse(env.ADDITIONAL_ENI_TAGS)).toEqual({ ...tags, ...own });
    expect(JSON.parse((made.outputs["bridgeData"] as Record<string, string>)["company_tags"] ?? "")).toEqual(tags);
  });
});

describe("a stack with the boundary of a company", () => {
  const denial = { Effect: "Deny", Action: "organizations:*", Resource: "*" };
  const boundary = "arn:aws:iam::222222222222:policy/company";

  it("has its statements in every boundary of spokes, add-ons, applications and Cluster API, and it on every role", async () => {
    const { resources } = await runStack("dev", {
      permissionsBoundary: boundary,
      boundaryStatements: JSON.stringify([denial]),
      addonPermissions: '[{"actions":["route53:ListHostedZones"]}]',
      clusterApi: "true",
      metrics: "amp",
      grafana: "amg",
      argocdSpokes: "true",
      argocdClusterSecret: "true",
    });
    const ofType = (type: string) => resources.filter((resource) => resource.type === type);
    const statements = new Map(
      ofType("aws:iam/policy:Policy").map(({ inputs }) => [inputs["name"], JSON.parse(inputs["policy"]).Statement]),
    );
    for (const name of fleetBoundaries("fleet-dev")) expect(statements.get(name), name).toContainEqual(denial);
    for (const { inputs } of ofType("aws:iam/role:Role"))
      expect(inputs["permissionsBoundary"], inputs["name"]).toBe(boundary);
  });
});

describe("a stack with a path for roles", () => {
  const path = "/company/teams/";

  it("gives it to every role, names no role of the fleet without it, and tells Git of it", async () => {
    const { resources, outputs } = await runStack("dev", {
      rolePath: path,
      clusterApi: "true",
      metrics: "amp",
      grafana: "amg",
      argocdSpokes: "true",
      argocdClusterSecret: "true",
      accounts: '[{"id":"111122223333","scopes":["dev"]}]',
    });
    const roles = resources.filter(({ type }) => type === "aws:iam/role:Role");
    expect(roles.length).toBeGreaterThan(8);
    for (const { inputs } of roles) expect(inputs["path"], inputs["name"]).toBe(path);
    const named = JSON.stringify([resources, outputs]).match(/:role\/[^"\\]*fleet-dev-[^"\\]*/g) ?? [];
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter((role) => !role.startsWith(`:role${path}fleet-dev-`))).toEqual([]);
    expect((outputs["bridgeData"] as Record<string, string>)["aws_role_path"]).toBe(path);
  });
});

describe("a stack with private mirrors", () => {
  const credential = {
    pullSecret: '{"auths":{"registry.example":{"username":"fleet","password":"t0ps3cret"}}}',
    chartsPassword: "t0ps3cret",
  };
  const mirrored = () =>
    runStack(
      "dev",
      {
        ...credential,
        chartsRegistry: "https://charts.example",
        chartsUsername: "fleet",
        imagesRegistry: "registry.example/mirror",
        packagesRegistry: "registry.example/mirror",
      },
      Object.keys(credential),
    );

  it("pulls every image of every chart from the mirror with the pull secret", async () => {
    const { resources } = await mirrored();
    const releases = resources.filter(({ type }) => type === "kubernetes:helm.sh/v3:Release");
    const secrets = [{ name: "pull-secret" }];
    const image = (name: string) => `registry.example/mirror/ghcr.io/${name}`;
    const values = Object.fromEntries(releases.map(({ name, inputs }) => [name, inputs["values"]]));
    expect(values).toMatchObject({
      "flux-release": {
        imagePullSecrets: secrets,
        cli: { image: image("fluxcd/flux-cli") },
        sourceController: { image: image("fluxcd/source-controller") },
        kustomizeController: { image: image("fluxcd/kustomize-controller") },
        helmController: { image: image("fluxcd/helm-controller") },
        notificationController: { image: image("fluxcd/notification-controller") },
        sourceWatcher: { create: true, image: image("fluxcd/source-watcher") },
      },
      "crossplane-release": {
        image: { repository: "registry.example/mirror/xpkg.crossplane.io/crossplane/crossplane" },
        imagePullSecrets: ["pull-secret"],
      },
      "external-secrets-release": {
        image: { repository: image("external-secrets/external-secrets") },
        imagePullSecrets: secrets,
      },
    });
    const namespaces = resources
      .filter(({ type, name }) => type === "kubernetes:core/v1:Secret" && name.endsWith("-pull-secret"))
      .map(({ inputs }) => inputs["metadata"].name);
    expect(namespaces).toEqual(releases.map(() => "pull-secret"));
  });

  it("hands the credentials to Git before anything is applied, tells the bridge names only, and shows none", async () => {
    const { resources } = await mirrored();
    const found = (name: string) => resources.find((resource) => id(resource) === name);
    expect(found("eks-gitops-fleet:index:FluxSync::gitops-system")?.dependencies).toContain(
      "kubernetes:core/v1:Secret::registry-credentials-secret",
    );
    const { data } = found("kubernetes:core/v1:Secret::cluster-secret-bridge")?.inputs ?? {};
    const told = (key: string) => Buffer.from(data[key], "base64").toString();
    expect(told("pull_secrets")).toBe('[{"name":"pull-secret"}]');
    expect(told("charts_components")).toBe('["credential"]');
    expect(told("packages_prefix")).toBe("registry.example/mirror/");
    const plain = resources.map(({ inputs, secrets }) => {
      const copy = structuredClone(inputs);
      for (const path of secrets)
        if (path.startsWith("data") || path === "secretString") delete copy[path.split(".")[0] ?? ""];
      return secrets.includes("repositoryOpts.password") ? { ...copy, repositoryOpts: {} } : copy;
    });
    expect(JSON.stringify(plain)).not.toContain("t0ps3cret");
    expect(JSON.stringify(plain)).not.toContain(Buffer.from(credential.pullSecret).toString("base64"));
  });
});

describe("a stack with Amazon ECR as the only registry", () => {
  const registry = "111111111111.dkr.ecr.us-east-1.amazonaws.com/mirror";
  const pulling = (change: Record<string, string> = {}) => runStack("dev", { registry: registry, ...change });
  const rolesOf = ({ resources }: Run) =>
    resources.filter(({ type }) => type === "aws:iam/role:Role").map(({ inputs }) => String(inputs["name"]));

  it("gives Flux and Crossplane a role each, and the annotations with which their pods get it", async () => {
    const { resources } = await pulling();
    const found = (name: string) => resources.find((resource) => id(resource) === name)?.inputs ?? {};
    const annotations = (name: string) => ({ "eks.amazonaws.com/role-arn": expect.stringContaining(name) });
    expect(found("kubernetes:helm.sh/v3:Release::flux-release")).toMatchObject({
      chart: `oci://${registry}/charts/flux2`,
      values: {
        sourceController: {
          serviceAccount: { annotations: annotations("source-controller") },
          annotations: annotations("source-controller"),
        },
      },
    });
    expect(found("kubernetes:helm.sh/v3:Release::crossplane-release")).toMatchObject({
      chart: `oci://${registry}/charts/crossplane`,
      values: {
        image: { repository: `${registry}/xpkg.crossplane.io/crossplane/crossplane` },
        serviceAccount: { customAnnotations: annotations("crossplane-packages") },
        customAnnotations: annotations("crossplane-packages"),
      },
    });
    for (const [name, namespace, account] of [
      ["source-controller", "flux-system", "source-controller"],
      ["crossplane-packages", "crossplane-system", "crossplane"],
    ])
      expect(found(`aws:iam/role:Role::${name}-role`)).toMatchObject({
        name: expect.stringMatching(new RegExp(`-hub-${name}$`)),
        assumeRolePolicy: expect.stringContaining(`system:serviceaccount:${namespace}:${account}`),
      });
  });

  it("tells Git how to log in, and keeps every password out of the state", async () => {
    const { resources } = await pulling();
    const bridge = resources.find((resource) => id(resource) === "kubernetes:core/v1:Secret::cluster-secret-bridge");
    const told = (key: string) => Buffer.from(bridge?.inputs["data"][key], "base64").toString();
    expect(told("charts_provider")).toBe("aws");
    expect(told("charts_registry")).toBe(`oci://${registry}/charts`);
    expect(told("images_prefix")).toBe(`${registry}/`);
    expect(told("packages_prefix")).toBe(`${registry}/`);
    expect(told("function_package")).toMatch(`${registry}/ghcr.io/`);
    expect(told("charts_components")).toBe("[]");
    expect(JSON.parse(told("source_controller_annotations"))).toEqual({
      "eks.amazonaws.com/role-arn": told("source_controller_iam_role_arn"),
    });
    for (const { type, inputs } of resources)
      if (type === "kubernetes:helm.sh/v3:Release") expect(inputs).not.toHaveProperty("repositoryOpts");
  });

  it("has neither role without it", async () => {
    const extra = (run: Run) => rolesOf(run).filter((name) => /-(source-controller|crossplane-packages)$/.test(name));
    expect(extra(await runStack("dev", {}))).toEqual([]);
    expect(extra(await pulling())).toHaveLength(2);
  });

  it("restarts the pods where they get the roles by EKS Pod Identity, which has an association for each", async () => {
    const { resources } = await pulling({ hubWorkloadIdentity: "pod-identity" });
    const associated = resources
      .filter(({ type }) => type === "aws:eks/podIdentityAssociation:PodIdentityAssociation")
      .map(({ inputs }) => inputs["serviceAccount"]);
    expect(associated).toEqual(expect.arrayContaining(["source-controller", "crossplane"]));
    const flux = resources.find((resource) => id(resource) === "kubernetes:helm.sh/v3:Release::flux-release");
    expect(flux?.inputs["values"].sourceController.annotations).toMatchObject({
      "fleet.internal/aws-identity": "PodIdentity",
    });
  });
});

describe("a stack whose Git host tells of pushes", () => {
  const called = (stack: string, change: Record<string, string> = {}) =>
    runStack(stack, { gitReceiver: "github", ...change });
  const found = ({ resources }: Run, name: string) => resources.find((resource) => id(resource) === name);
  const token = "random:index/randomPassword:RandomPassword::hub-receiver-password";
  const path = (text: string) => `/hook/${createHash("sha256").update(text).digest("hex")}`;

  it("has a token in Secrets Manager that only External Secrets may read, and shows no part of it in plain text", async () => {
    const made = await called("prod");
    const stored = found(made, "aws:secretsmanager/secretVersion:SecretVersion::hub-receiver-version");
    expect(stored).toMatchObject({ secrets: ["secretString"], protect: false });
    expect(JSON.parse(stored?.inputs["secretString"])).toEqual({ token: "TOKEN hub-receiver-password 1" });
    expect(found(made, "aws:secretsmanager/secret:Secret::hub-receiver-secret")?.inputs).toMatchObject({
      name: "fleet-prod/git/receivers/hub",
    });
    const readers = made.resources
      .filter(({ type, inputs }) => type.startsWith("aws:iam/") && JSON.stringify(inputs).includes("git/receivers/"))
      .map(({ parent }) => parent);
    expect(readers).toEqual(["eks-gitops-fleet:index:IrsaRole::external-secrets"]);
    const plain = made.resources.filter(({ type }) => !/SecretVersion|RandomPassword/.test(type));
    expect(JSON.stringify(plain)).not.toContain("TOKEN");
  });

  it("says what to enter at the Git host; the path, which stands for the token, is a secret", async () => {
    const { outputs, secretOutputs } = await called("dev");
    expect(outputs["gitWebhooks"]).toEqual({
      hub: {
        type: "github",
        secret: "TOKEN hub-receiver-password 1",
        path: path("TOKEN hub-receiver-password 1git-receiverflux-system"),
      },
    });
    expect(secretOutputs).toEqual(["gitWebhooks"]);
  });

  it("makes another token and path with another generation, also where keys are protected", async () => {
    const made = await called("prod", { gitReceiverGeneration: "2" });
    expect(found(made, token)).toMatchObject({ inputs: { keepers: { generation: "2" } }, protect: false });
    expect(found(made, "aws:secretsmanager/secret:Secret::hub-receiver-secret")).toMatchObject({ protect: false });
  });

  it("removes the Receiver before Flux, which takes its finalizer, and after the root Kustomization, which a Spoke holds", async () => {
    const made = await called("dev");
    expect(found(made, "eks-gitops-fleet:index:FluxSync::gitops-system")?.dependencies).toContain(
      "kubernetes:notification.toolkit.fluxcd.io/v1:Receiver::git-receiver-receiver",
    );
    expect(found(made, "eks-gitops-fleet:index:GitReceiver::git-receiver")?.dependencies).toEqual(
      expect.arrayContaining([
        "kubernetes:helm.sh/v3:Release::flux-release",
        "kubernetes:helm.sh/v3:Release::external-secrets-release",
      ]),
    );
  });

  it.each([
    ["none", "", "1m"],
    ["github", "", "10m"],
    ["github", "30s", "30s"],
  ])("with gitReceiver %s and gitInterval '%s' polls every %s", async (gitReceiver, gitInterval, interval) => {
    const made = await called("dev", { gitReceiver: gitReceiver, gitInterval: gitInterval });
    const source = "kubernetes:source.toolkit.fluxcd.io/v1:GitRepository::gitops-system-repository";
    expect(found(made, source)?.inputs["spec"].interval).toBe(interval);
  });

  it("has nothing of it by default", () => {
    for (const stack of ["dev", "prod"]) {
      expect(run(stack).outputs["gitWebhooks"]).toEqual({});
      expect(JSON.stringify(run(stack).resources.map(id))).not.toContain("receiver");
    }
  });
});

describe("a stack with sealing keys of the hub's own", () => {
  const keys = (scopes: string[]) => ({
    sealingKeys: JSON.stringify(scopes.map((scope) => ({ scope, generation: "1", active: true }))),
  });
  const readable = ({ resources }: Run): string[] => {
    const policies = resources.filter(({ inputs }) => JSON.stringify(inputs["policy"] ?? "").includes("ReadSecrets"));
    expect(policies.map(({ parent }) => parent)).toEqual(["eks-gitops-fleet:index:IrsaRole::external-secrets"]);
    const { Statement } = JSON.parse(policies[0]?.inputs["policy"]);
    return Statement.find(({ Sid }: { Sid: string }) => Sid === "ReadSecrets").Resource;
  };

  it("lets External Secrets on the hub read them and no spoke's, and brings them to its Sealed Secrets before Git is applied", async () => {
    const made = await runStack("dev", keys(["dev", "cluster-hub", "cluster-blue"]));
    expect(readable(made).filter((arn) => arn.includes("sealing-keys"))).toEqual([
      expect.stringContaining("/hub-sealing-keys/cluster-hub/1"),
    ]);
    const delivered = made.resources.filter(({ parent }) => parent.endsWith("SealingKeySecrets::hub-sealing-keys"));
    expect(delivered.map(({ inputs }) => inputs["spec"].dataFrom)).toMatchObject([
      [{ extract: { key: "fleet-dev/hub-sealing-keys/cluster-hub/1" } }],
    ]);
    const sync = made.resources.find((resource) => id(resource) === "eks-gitops-fleet:index:FluxSync::gitops-system");
    expect(sync?.dependencies.join()).toContain("ExternalSecret::hub-sealing-keys-1");
  });

  it("has nothing of it by default", () => {
    expect(readable(run("dev")).filter((arn) => arn.includes("sealing-keys"))).toEqual([]);
    expect(run("dev").resources.map(id).join()).not.toContain("SealingKeySecrets");
  });
});

describe("a stack with sealing keys of a state that was lost", () => {
  const other = "333333333333";
  const arnOf = (scope: string) =>
    `arn:aws:secretsmanager:eu-central-1:222222222222:secret:${fleetNames("fleet-dev").sealingKeySecret(scope, "1")}-FoRmEr`;
  const certificate = rootCertificates[0] ?? "";
  const scopes = ["dev", "staging", "cluster-hub"];
  const config = {
    sealingKeys: JSON.stringify(scopes.map((scope) => ({ scope, generation: "2", active: true }))),
    formerSealingKeys: JSON.stringify(
      scopes.map((scope) => ({ scope, generation: "1", arn: arnOf(scope), certificate })),
    ),
  };
  const elsewhere = { accounts: JSON.stringify([{ id: other, scopes: ["dev"] }]) };
  let made: Run;
  beforeAll(async () => {
    made = await runStack("dev", { ...config, ...elsewhere });
  });

  it("makes nothing of them: neither key nor secret, and no resource at all without other accounts", async () => {
    expect(made.resources.filter(({ name }) => /sealing-keys-.*\/1(?!-policy$)/.test(name)).map(id)).toEqual([]);
    const alone = await runStack("dev", config);
    expect(alone.resources.filter(({ name }) => /sealing-keys-.*\/1/.test(name)).map(id)).toEqual([]);
  });

  it("lets spokes in other accounts read those of their account's scopes, as External Secrets of their environment alone", () => {
    const policies = made.resources.filter(({ type }) => type === "aws:secretsmanager/secretPolicy:SecretPolicy");
    expect(policies.map(({ name, inputs }) => [name, inputs["secretArn"]]).sort()).toEqual([
      ["sealing-keys-dev/1-policy", arnOf("dev")],
      ["sealing-keys-dev/2-policy", expect.stringContaining("/dev/2-AbCdEf")],
    ]);
    const reads = (context: Readonly<Record<string, string>>) =>
      allowed(JSON.parse(String(policies.find(({ name }) => name === "sealing-keys-dev/1-policy")?.inputs["policy"])), {
        ...{ action: "secretsmanager:GetSecretValue", resource: "*" },
        context: {
          "aws:PrincipalArn": `arn:aws:iam::${other}:role/fleet-dev-spoke-blue-external-secrets`,
          "aws:PrincipalTag/fleet.internal/identity": "external-secrets",
          "aws:PrincipalTag/environment": "dev",
          ...context,
        },
      });
    expect(reads({})).toBe(true);
    expect(reads({ "aws:PrincipalTag/environment": "staging" })).toBe(false);
    expect(reads({ "aws:PrincipalTag/fleet.internal/identity": "crossplane" })).toBe(false);
    expect(reads({ "aws:PrincipalArn": "arn:aws:iam::444444444444:role/fleet-dev-spoke-blue-external-secrets" })).toBe(
      false,
    );
    const told = JSON.parse((made.outputs["bridgeData"] as Record<string, string>)["sealing_key_arns"] ?? "");
    for (const scope of scopes) expect(told).toContain(arnOf(scope));
  });

  it("brings the hub its own, and lets its External Secrets read these and no spoke's", () => {
    const policy = made.resources.find(({ name }) => name === "external-secrets-policy")?.inputs["policy"];
    const reads = (resource: string) =>
      allowed(JSON.parse(String(policy)), { action: "secretsmanager:GetSecretValue", resource });
    expect(reads(arnOf("cluster-hub"))).toBe(true);
    expect(reads(arnOf("dev"))).toBe(false);
    const delivered = made.resources.filter(({ parent }) => parent.endsWith("SealingKeySecrets::hub-sealing-keys"));
    expect(
      delivered.map(({ inputs }) => [inputs["metadata"].name, inputs["spec"].dataFrom[0].extract.key]).sort(),
    ).toEqual([
      ["sealing-key-1", "fleet-dev/hub-sealing-keys/cluster-hub/1"],
      ["sealing-key-2", "fleet-dev/hub-sealing-keys/cluster-hub/2"],
    ]);
  });

  it("tells the commands what they sealed, and seals with its own", () => {
    const told = made.outputs["sealingCertificates"] as Record<string, Record<string, string>>;
    expect(told["dev"]).toEqual({ "1": certificate, "2": "CERTIFICATE sealing-keys-dev/2-certificate" });
    expect(made.outputs["activeSealingKeys"]).toEqual({ dev: "2", staging: "2", "cluster-hub": "2" });
  });
});

describe("a stack that permits add-ons something", () => {
  it("has a boundary for their roles, which Crossplane may give and the bridge tells of; by default there is none", async () => {
    const actions = ["route53:ListHostedZones"];
    const { resources } = await runStack("dev", { addonPermissions: JSON.stringify([{ actions }]) });
    const boundary = resources.find(({ name }) => name === "addon-boundary-policy");
    expect(boundary?.inputs["name"]).toBe("fleet-dev-addon-boundary");
    expect(readPolicy(boundary?.inputs["policy"]).Statement[0]).toMatchObject({ Action: actions, Resource: ["*"] });
    const policyOf = ({ resources: all }: Pick<Run, "resources">) =>
      JSON.stringify(all.find(({ name }) => name === "crossplane-iam-policy")?.inputs["policy"]);
    expect(policyOf({ resources })).toContain(":policy/fleet-dev-addon-boundary");
    expect(policyOf(run("dev"))).toBe(policyOf({ resources }));
    expect(run("dev").resources.filter(({ name }) => name.startsWith("addon-boundary"))).toEqual([]);
  });
});

describe("a stack whose spokes may be in other accounts", () => {
  const other = "333333333333";
  const config = {
    accounts: JSON.stringify([
      { id: other, regions: ["eu-west-1"], scopes: ["dev", "cluster-blue"] },
      { id: "555555555555", scopes: ["staging"] },
    ]),
    spokeRegions: JSON.stringify(["eu-west-2"]),
    sealingKeys: JSON.stringify([
      ...["dev", "staging", "cluster-blue", "cluster-green", "cluster-hub"].map((scope) => ({
        scope,
        generation: "1",
        active: true,
      })),
    ]),
  };
  let made: Run;
  beforeAll(async () => {
    made = await runStack("dev", config);
  });
  const documentOf = (name: string): PolicyDocument => {
    const found = made.resources.find((each) => each.name === name);
    return readPolicy(found?.inputs["policy"]);
  };
  const reader = (spoke: string, environment: string, role = "external-secrets", account = other) => ({
    "aws:PrincipalArn": `arn:aws:iam::${account}:role/fleet-dev-spoke-${spoke}-${role}`,
    "aws:PrincipalTag/fleet.internal/identity": role,
    "aws:PrincipalTag/eks-cluster-name": `fleet-dev-spoke-${spoke}`,
    "aws:PrincipalTag/environment": environment,
  });

  it("lets External Secrets of their spokes read the sealing keys of their scope, if it is one of their account's, and nobody else of the account", () => {
    const reads = (scope: string, context: Readonly<Record<string, string>>) =>
      allowed(documentOf(`sealing-keys-${scope}/1-policy`), {
        ...{ action: "secretsmanager:GetSecretValue", resource: "*" },
        context,
      });
    expect(reads("dev", reader("blue", "dev"))).toBe(true);
    expect(reads("dev", reader("blue", "prod"))).toBe(false);
    expect(reads("dev", reader("blue", "dev", "crossplane"))).toBe(false);
    expect(reads("dev", reader("blue", "dev", "external-secrets", "444444444444"))).toBe(false);
    expect(reads("dev", { ...reader("blue", "dev"), "aws:PrincipalArn": `arn:aws:iam::${other}:role/admin` })).toBe(
      false,
    );
    expect(reads("cluster-blue", reader("blue", "dev"))).toBe(true);
    expect(reads("cluster-blue", reader("green", "dev"))).toBe(false);
    const policies = made.resources.filter(({ type }) => type === "aws:secretsmanager/secretPolicy:SecretPolicy");
    expect(policies.map(({ name }) => name).sort()).toEqual([
      "sealing-keys-cluster-blue/1-policy",
      "sealing-keys-dev/1-policy",
      "sealing-keys-staging/1-policy",
    ]);
    for (const { name, inputs } of policies) {
      expect(inputs["blockPublicPolicy"]).toBe(true);
      const account = name.includes("staging") ? "555555555555" : other;
      expect(JSON.parse(String(inputs["policy"])).Statement[0].Principal).toEqual({
        AWS: [`arn:aws:iam::${account}:root`],
      });
    }
  });

  it("lets the same roles decrypt sealing keys through Secrets Manager, and nothing else that the key encrypts", () => {
    const decrypts = (secret: string, context: Readonly<Record<string, string>> = {}) =>
      allowed(
        { Version: "2012-10-17", Statement: documentOf("secrets-policy").Statement.slice(1) },
        {
          ...{ action: "kms:Decrypt", resource: "*" },
          context: {
            ...reader("blue", "dev"),
            "kms:ViaService": "secretsmanager.eu-central-1.amazonaws.com",
            "kms:EncryptionContext:SecretARN": `arn:aws:secretsmanager:eu-central-1:222222222222:secret:${secret}`,
            ...context,
          },
        },
      );
    expect(decrypts("fleet-dev/sealing-keys/dev/1-AbCdEf")).toBe(true);
    expect(decrypts("fleet-dev/sealing-keys/staging/1-AbCdEf")).toBe(false);
    const ofAnother = reader("blue", "staging", "external-secrets", "555555555555");
    expect(decrypts("fleet-dev/sealing-keys/staging/1-AbCdEf", ofAnother)).toBe(true);
    expect(decrypts("fleet-dev/sealing-keys/dev/1-AbCdEf", ofAnother)).toBe(false);
    expect(decrypts("fleet-dev/git/gitops-system-AbCdEf")).toBe(false);
    expect(
      decrypts("fleet-dev/sealing-keys/dev/1-AbCdEf", { "kms:ViaService": "ssm.eu-central-1.amazonaws.com" }),
    ).toBe(false);
    expect(decrypts("fleet-dev/sealing-keys/dev/1-AbCdEf", reader("blue", "dev", "node"))).toBe(false);
    const [own] = documentOf("secrets-policy").Statement;
    expect(own).toMatchObject({ Principal: { AWS: "arn:aws:iam::222222222222:root" }, Action: ["kms:*"] });
  });

  it("lets Crossplane assume its role there and no other, and make spokes in the named regions", () => {
    const may = (action: string, resource: string, context: Readonly<Record<string, string>> = {}) =>
      allowed([documentOf("crossplane-eks-policy")], {
        ...{ action, resource },
        context: { "aws:RequestedRegion": "eu-west-2", ...context },
      });
    const role = (account: string, name: string) => `arn:aws:iam::${account}:role/${name}`;
    expect(may("sts:AssumeRole", role(other, "fleet-dev-hub-crossplane"))).toBe(true);
    // The provider asks in the region of the other account's clusters.
    expect(may("sts:AssumeRole", role(other, "fleet-dev-hub-crossplane"), { "aws:RequestedRegion": "eu-west-1" })).toBe(
      true,
    );
    expect(may("sts:AssumeRole", role(other, "admin"))).toBe(false);
    expect(may("sts:AssumeRole", role("444444444444", "fleet-dev-hub-crossplane"))).toBe(false);
    const cluster = (region: string) => `arn:aws:eks:${region}:222222222222:cluster/fleet-dev-spoke-blue`;
    expect(may("eks:CreateCluster", cluster("eu-west-2"))).toBe(true);
    expect(may("eks:CreateCluster", cluster("eu-west-3"), { "aws:RequestedRegion": "eu-west-3" })).toBe(false);
  });

  it("tells Git the places and the ARNs of the sealing keys; by default there is one place, and no policy", () => {
    const told = made.outputs["bridgeData"] as Record<string, string>;
    expect(JSON.parse(told["spoke_places"] ?? "")).toEqual({
      "222222222222": { regions: ["eu-central-1", "eu-west-2"] },
      [other]: { regions: ["eu-west-1"], scopes: ["dev", "cluster-blue"] },
      "555555555555": { regions: ["eu-central-1"], scopes: ["staging"] },
    });
    expect(JSON.parse(told["sealing_key_arns"] ?? "")).toContain(
      "arn:aws:secretsmanager:eu-central-1:222222222222:secret:fleet-dev/sealing-keys/cluster-blue/1-AbCdEf",
    );
    expect(run("dev").outputs["bridgeData"]).toMatchObject({
      spoke_places: '{"222222222222":{"regions":["eu-central-1"]}}',
    });
    const policies = run("dev").resources.filter(({ type }) => /:(SecretPolicy|KeyPolicy)$/.test(type));
    expect(policies).toEqual([]);
  });
});

describe("the places of spokes", () => {
  const hubOf = { accountId: "222222222222", region: "eu-central-1" };

  it("are refused where they are the hub's own account, or in another partition", () => {
    const places = {
      accounts: [{ id: "222222222222", regions: [], scopes: ["dev"], volumeKeys: [] }],
      spokeRegions: [],
    };
    expect(placeProblem(places, hubOf)).toContain("name its further regions in spokeRegions");
    expect(placeProblem({ accounts: [], spokeRegions: ["cn-north-1"] }, hubOf)).toContain("got cn-north-1");
    expect(
      placeProblem(
        {
          accounts: [{ id: "333333333333", regions: [], scopes: ["dev"], volumeKeys: [] }],
          spokeRegions: ["eu-west-1"],
        },
        hubOf,
      ),
    ).toBe(undefined);
  });

  it("name the hub's region once, and are in it without regions of their own", () => {
    const settings = {
      accounts: [{ id: "333333333333", regions: [], scopes: ["dev"], volumeKeys: [] as string[] }],
      spokeRegions: ["eu-central-1", "eu-west-1"],
      volumeKeys: [] as string[],
    };
    expect(spokePlaces(settings, hubOf)).toEqual({
      "222222222222": { regions: ["eu-central-1", "eu-west-1"] },
      "333333333333": { regions: ["eu-central-1"], scopes: ["dev"] },
    });
    const keys = (account: string) => [`arn:aws:kms:eu-central-1:${account}:key/1234abcd-12ab-34cd-56ef-1234567890ab`];
    const [other] = settings.accounts;
    const accounts = other === undefined ? [] : [{ ...other, volumeKeys: keys("333333333333") }];
    expect(spokePlaces({ ...settings, accounts, volumeKeys: keys("222222222222") }, hubOf)).toEqual({
      "222222222222": { regions: ["eu-central-1", "eu-west-1"], volumeKeys: keys("222222222222") },
      "333333333333": { regions: ["eu-central-1"], scopes: ["dev"], volumeKeys: keys("333333333333") },
    });
  });
});

describe("a stack with metrics", () => {
  it("has alerts with the ends of its own sealing keys and the quotas that were raised", async () => {
    const { resources } = await runStack("dev", { metrics: "amp", serviceQuotas: '{"vpcs":20}' });
    const rules = resources.find(({ type }) => type === "aws:amp/ruleGroupNamespace:RuleGroupNamespace");
    const sealingKeyEnds = { dev: "2036-01-31T00:00:00Z" };
    expect(rules?.inputs["data"]).toBe(alertRules({ serviceQuotas: { vpcs: 20 }, sealingKeyEnds }));
  });

  it("makes a workspace that the bridge tells of and add-ons may write to; by default there is none", async () => {
    const { resources, outputs } = await runStack("dev", { metrics: "amp" });
    const [workspace] = resources.filter(({ type }) => type === "aws:amp/workspace:Workspace");
    expect(workspace?.inputs).toMatchObject({ alias: "fleet-dev", tags: { "fleet.internal/fleet": "fleet-dev" } });
    const boundary = resources.find(({ name }) => name === "addon-boundary-policy");
    const [permitted] = readPolicy(boundary?.inputs["policy"]).Statement;
    const { metrics_workspace_arn: arn, metrics_endpoint: endpoint } = outputs["bridgeData"] as Record<string, string>;
    expect(arn).toMatch(/^arn:aws:aps:.*:workspace\//);
    expect(endpoint).toMatch(/^https:\/\/aps-workspaces\..*\/$/);
    expect(permitted).toMatchObject({ Action: ["aps:RemoteWrite"], Resource: [arn] });
    expect(run("dev").resources.filter(({ type }) => type.startsWith("aws:amp/"))).toEqual([]);
    expect(run("dev").outputs["bridgeData"]).toMatchObject({ metrics_workspace_arn: "", metrics_endpoint: "" });
  });

  it("has a role for the hub's own agent, which writes to the workspace and does nothing else; by default there is none", async () => {
    const { resources, outputs } = await runStack("dev", { metrics: "amp" });
    const data = outputs["bridgeData"] as Record<string, string>;
    expect(data).toMatchObject({
      prometheus_iam_role_arn: expect.stringMatching(/:role\/fleet-dev-hub-prometheus$/),
      prometheus_namespace: "prometheus",
      prometheus_service_account: "prometheus-sa",
    });
    const granted = resources.find(({ name }) => name === "prometheus-policy");
    expect(JSON.parse(String(granted?.inputs["policy"])).Statement).toEqual([
      expect.objectContaining({ Action: ["aps:RemoteWrite"], Resource: [data["metrics_workspace_arn"]] }),
    ]);
    expect(run("dev").outputs["bridgeData"]).not.toHaveProperty("prometheus_iam_role_arn");
    expect(run("dev").resources.filter(({ name }) => name.startsWith("prometheus"))).toEqual([]);
  });
});

describe("a stack whose Cluster API makes clusters", () => {
  it("has a role for its AWS provider, a boundary for the roles that it makes, a key for its clusters, and tells the bridge; by default there is none", async () => {
    const { resources, outputs } = await runStack("dev", { clusterApi: "true" });
    const data = outputs["bridgeData"] as Record<string, string>;
    expect(data).toMatchObject({
      cluster_api_iam_role_arn: expect.stringMatching(/:role\/fleet-dev-hub-cluster-api$/),
      cluster_api_namespace: "capa-system",
      cluster_api_service_account: "capa-controller-manager",
      cluster_api_kms_key_arn: expect.stringMatching(/^arn:aws:kms:/),
    });
    const inputs = (name: string) => resources.find((each) => each.name === name)?.inputs ?? {};
    const document = JSON.parse(String(inputs("cluster-api-policy")["policy"]));
    const may = (action: string, resource: string, context = {}) => allowed(document, { action, resource, context });
    const role = (name: string) => `arn:aws:iam::${data["aws_account_id"]}:role/${name}`;
    const tagged = {
      "aws:RequestTag/fleet.internal/identity": "node",
      "aws:RequestTag/fleet.internal/made-by": "cluster-api",
    };
    const under = (name: string) => ({
      ...tagged,
      "iam:PermissionsBoundary": `arn:aws:iam::${data["aws_account_id"]}:policy/${name}`,
    });
    const bounded = under("fleet-dev-cluster-api-boundary");
    expect(inputs("cluster-api-boundary-policy")["name"]).toBe("fleet-dev-cluster-api-boundary");
    expect(may("iam:CreateRole", role("fleet-dev-spoke-blue.node"), under("fleet-dev-boundary"))).toBe(false);
    expect(may("iam:CreateRole", role("fleet-dev-spoke-blue.cluster"), bounded)).toBe(true);
    expect(may("iam:CreateRole", role("fleet-dev-spoke-blue.node"), bounded)).toBe(true);
    expect(may("iam:CreateRole", role("fleet-dev-spoke-blue.node"), tagged)).toBe(false);
    for (const other of [
      "fleet-dev-spoke-blue-node",
      "fleet-dev-spoke-blue-crossplane",
      "fleet-dev-hub-crossplane-iam",
      "somebodys",
    ])
      expect(may("iam:CreateRole", role(other), bounded), other).toBe(false);
    const cluster = (name: string) => `arn:aws:eks:${data["aws_region"]}:${data["aws_account_id"]}:cluster/${name}`;
    const own = { "aws:ResourceTag/fleet.internal/made-by": "cluster-api" };
    expect(may("eks:UpdateClusterVersion", cluster("fleet-dev-spoke-blue"), own)).toBe(true);
    expect(may("eks:DeleteCluster", cluster("fleet-dev-hub"), own)).toBe(false);
    const forAws = { "kms:GrantIsForAWSResource": "true" };
    expect(may("kms:CreateGrant", data["cluster_api_kms_key_arn"] ?? "", forAws)).toBe(true);
    expect(may("kms:CreateGrant", data["cluster_api_kms_key_arn"] ?? "")).toBe(false);
    expect(may("kms:CreateGrant", data["secrets_kms_key_arn"] ?? "", forAws)).toBe(false);
    // Also in a stack that protects nothing.
    expect(resources.find(({ name }) => name === "cluster-api-key")).toMatchObject({ protect: true });
    expect(run("dev").outputs["bridgeData"]).not.toHaveProperty("cluster_api_iam_role_arn");
    expect(run("dev").resources.filter(({ name }) => name.startsWith("cluster-api"))).toEqual([]);
  });
});

describe("a stack whose pods get their roles by EKS Pod Identity", () => {
  const others = { argocdClusterSecret: "true", argocdSpokes: "true", clusterApi: "true", metrics: "amp" };
  const withPods = (change: Record<string, string> = {}) =>
    runStack("dev", { hubWorkloadIdentity: "pod-identity", ...change });
  const agent = "aws:eks/addon:Addon::hub-nodes-pod-identity-agent";
  const association = "aws:eks/podIdentityAssociation:PodIdentityAssociation";
  const found = ({ resources }: Run, key: string) => resources.find((resource) => id(resource) === key);
  const roleOf = (made: Run, name: string) => found(made, `aws:iam/role:Role::${name}-role`)?.inputs ?? {};

  it("associates each role that pods have with their service account, as the bridge names both, and no role of a store", async () => {
    const made = await withPods(others);
    const data = made.outputs["bridgeData"] as Record<string, string>;
    const identities = [
      ...["argocd", "cluster_api", ...crossplaneServices.map((service) => `crossplane_${service}`)],
      ...["helm_controller", "kustomize_controller", "prometheus"],
    ];
    const associated = made.resources.filter(({ type }) => type === association);
    expect(associated.map(({ inputs }) => inputs).sort((a, b) => (a["roleArn"] < b["roleArn"] ? -1 : 1))).toEqual(
      identities.map((identity) => ({
        clusterName: "fleet-dev-hub",
        namespace: data[`${identity}_namespace`],
        serviceAccount: data[`${identity}_service_account`],
        roleArn: data[`${identity}_iam_role_arn`],
        tags: { "fleet.internal/fleet": "fleet-dev", "fleet.internal/cluster": "hub", environment: "dev" },
      })),
    );
    const elsewhere = await withPods({ ...others, argocdRoleArn: "arn:aws:iam::333333333333:role/argocd" });
    const names = elsewhere.resources.filter(({ type }) => type === association).map(({ name }) => name);
    expect(names).not.toContain("argocd-secrets-pods");
    expect(JSON.stringify(roleOf(elsewhere, "argocd-secrets"))).not.toContain("pods.eks");
    expect(JSON.stringify(roleOf(made, "external-secrets"))).not.toContain("pods.eks");
  });

  it("trusts the pods of that service account on the hub alone, and still the OIDC provider, with which pods from before go on", async () => {
    const made = await withPods();
    const [byPods, ...rest] = readPolicy(roleOf(made, "crossplane-iam")["assumeRolePolicy"]).Statement;
    expect(byPods).toMatchObject({
      Principal: { Service: "pods.eks.amazonaws.com" },
      Condition: {
        StringEquals: {
          "aws:RequestTag/eks-cluster-arn": "arn:aws:eks:eu-central-1:222222222222:cluster/fleet-dev-hub",
          "aws:RequestTag/kubernetes-namespace": "crossplane-system",
          "aws:RequestTag/kubernetes-service-account": "provider-aws-iam",
        },
      },
    });
    expect(rest).toEqual(readPolicy(roleOf(run("dev"), "crossplane-iam")["assumeRolePolicy"]).Statement);
  });

  it("has the agent before the associations, and these and the roles' rights before Flux's pods and Git hear of them", async () => {
    const made = await withPods();
    expect(found(made, agent)).toMatchObject({
      inputs: { addonName: "eks-pod-identity-agent", addonVersion: "eks-pod-identity-agent-for-1.36" },
      dependencies: expect.arrayContaining(["eks:index:ManagedNodeGroup::hub-nodes-group"]),
    });
    for (const name of ["crossplane-iam", "kustomize-controller", "helm-controller"])
      expect(found(made, `${association}::${name}-pods`)?.dependencies).toEqual(
        expect.arrayContaining([
          agent,
          `aws:iam/role:Role::${name}-role`,
          `aws:iam/rolePolicy:RolePolicy::${name}-policy`,
        ]),
      );
    expect(found(made, "kubernetes:helm.sh/v3:Release::flux-release")?.dependencies).toEqual(
      expect.arrayContaining([`${association}::kustomize-controller-pods`, `${association}::helm-controller-pods`]),
    );
    expect(found(made, "kubernetes:core/v1:Secret::cluster-secret-bridge")?.dependencies).toContain(
      `${association}::crossplane-iam-pods`,
    );
    expect(made.outputs["bridgeData"]).toMatchObject({
      aws_identity_source: "PodIdentity",
      pod_annotations: '{"fleet.internal/aws-identity":"PodIdentity"}',
    });
  });

  it("replaces nothing: it adds the agent and the associations, and changes trust, the bridge and the pods of Flux", async () => {
    const [before, after] = [run("dev").resources, (await withPods()).resources];
    const names = (resources: readonly Registered[]) => resources.map(id);
    expect(names(before).filter((name) => !names(after).includes(name))).toEqual([]);
    expect(
      names(after)
        .filter((name) => !names(before).includes(name))
        .sort(),
    ).toEqual([
      agent,
      ...crossplaneServices.map((service) => `${association}::crossplane-${service}-pods`),
      `${association}::helm-controller-pods`,
      `${association}::kustomize-controller-pods`,
    ]);
    const changed = before.filter(
      (resource) => !isDeepStrictEqual(resource.inputs, after.find((each) => id(each) === id(resource))?.inputs),
    );
    expect(changed.map(id).sort()).toEqual([
      ...crossplaneServices.map((service) => `aws:iam/role:Role::crossplane-${service}-role`),
      "aws:iam/role:Role::helm-controller-role",
      "aws:iam/role:Role::kustomize-controller-role",
      "kubernetes:core/v1:Secret::cluster-secret-bridge",
      "kubernetes:helm.sh/v3:Release::flux-release",
    ]);
    const values = (resources: readonly Registered[]) =>
      resources.find(({ name }) => name === "flux-release")?.inputs["values"];
    const { kustomizeController, helmController, ...others } = values(after);
    const annotations = { "fleet.internal/aws-identity": "PodIdentity" };
    expect(values(before)).toMatchObject(others);
    expect([kustomizeController, helmController]).toEqual([
      { ...values(before).kustomizeController, annotations },
      { ...values(before).helmController, annotations },
    ]);
  });
});

describe("a stack whose Argo CD acts on spokes", () => {
  it("has a role for Argo CD's controller that assumes one other role, which only it assumes and which may do nothing in AWS; by default there is none", async () => {
    const { resources, outputs } = await runStack("dev", {
      argocdClusterSecret: "true",
      argocdSpokes: "true",
      argocdNamespace: "cd",
    });
    const data = outputs["bridgeData"] as Record<string, string>;
    expect(data).toMatchObject({
      argocd_iam_role_arn: expect.stringMatching(/:role\/fleet-dev-hub-argocd$/),
      argocd_namespace: "cd",
      argocd_service_account: "argocd-application-controller",
    });
    expect(JSON.parse(data["addons"] ?? "")).toContain("argocd");
    const document = (name: string, field: string) =>
      JSON.parse(String(resources.find((each) => each.name === name)?.inputs[field])).Statement;
    const onSpokes = `${data["argocd_iam_role_arn"]}-spokes`;
    expect(document("argocd-policy", "policy")).toEqual([
      expect.objectContaining({ Action: ["sts:AssumeRole", "sts:TagSession"], Resource: [onSpokes] }),
    ]);
    expect(document("argocd-spokes-role", "assumeRolePolicy")).toEqual([
      expect.objectContaining({
        Action: ["sts:AssumeRole", "sts:TagSession"],
        Condition: { ArnEquals: { "aws:PrincipalArn": data["argocd_iam_role_arn"] } },
      }),
    ]);
    expect(resources.map(({ name }) => name).filter((name) => name.startsWith("argocd-spokes"))).toEqual([
      "argocd-spokes",
      "argocd-spokes-role",
    ]);
    expect(run("dev").outputs["bridgeData"]).not.toHaveProperty("argocd_iam_role_arn");
    expect(run("dev").resources.filter(({ name }) => name.startsWith("argocd"))).toEqual([]);
  });

  it("has for an Argo CD elsewhere a role that writes the fleet's secrets for it, and no other, and a store that uses it", async () => {
    const elsewhere = "arn:aws:iam::111111111111:role/argocd";
    const { resources, outputs } = await runStack("dev", {
      argocdClusterSecret: "true",
      argocdSpokes: "true",
      argocdRoleArn: elsewhere,
    });
    const data = outputs["bridgeData"] as Record<string, string>;
    expect(data).toMatchObject({
      argocd_iam_role_arn: elsewhere,
      argocd_namespace: "argocd",
      argocd_secrets_iam_role_arn: expect.stringMatching(/:role\/fleet-dev-hub-argocd-secrets$/),
      argocd_secrets_namespace: "argocd",
      argocd_secrets_service_account: "argocd-secrets",
    });
    // Nobody asked for its access to the hub.
    expect(resources.filter(({ inputs }) => inputs["principalArn"] === elsewhere)).toEqual([]);
    // The hub has no Argo CD.
    expect(JSON.parse(data["addons"] ?? "")).not.toContain("argocd");
    expect(resources.map(({ name }) => name).filter((name) => /^argocd(-spokes)?(-role)?$/.test(name))).toEqual([]);
    const inputs = (name: string) => resources.find((each) => each.name === name)?.inputs ?? {};
    const may = (action: string, resource: string) =>
      allowed(JSON.parse(String(inputs("argocd-secrets-policy")["policy"])), { action, resource });
    const secret = (name: string) =>
      `arn:aws:secretsmanager:${data["aws_region"]}:${data["aws_account_id"]}:secret:${name}`;
    for (const verb of [
      "CreateSecret",
      "PutSecretValue",
      "GetSecretValue",
      "DescribeSecret",
      "TagResource",
      "UntagResource",
      // At each push to a secret that is there.
      "DeleteResourcePolicy",
      "DeleteSecret",
    ]) {
      const action = `secretsmanager:${verb}`;
      expect(may(action, secret("fleet-dev/argocd/blue-AbCdEf")), action).toBe(true);
      for (const other of [
        "fleet-dev/git/gitops-system-AbCdEf",
        "fleet-dev/sealing-keys/dev/1-AbCdEf",
        "other/argocd/blue-AbCdEf",
      ])
        expect(may(action, secret(other)), `${action} ${other}`).toBe(false);
    }
    for (const action of [
      ...["secretsmanager:PutResourcePolicy", "secretsmanager:GetResourcePolicy"],
      ...["secretsmanager:UpdateSecret", "kms:Decrypt", "sts:AssumeRole"],
    ])
      expect(may(action, secret("fleet-dev/argocd/blue-AbCdEf")), action).toBe(false);
    const trust = JSON.stringify(JSON.parse(String(inputs("argocd-secrets-role")["assumeRolePolicy"])));
    expect(trust).toContain("system:serviceaccount:argocd:argocd-secrets");
    expect(inputs("argocd-secrets-store-store")).toMatchObject({
      metadata: { name: "argocd-secrets", namespace: "argocd" },
      spec: { provider: { aws: { service: "SecretsManager", secretsManager: { forceDeleteWithoutRecovery: true } } } },
    });
    const binding =
      "kubernetes:admissionregistration.k8s.io/v1:ValidatingAdmissionPolicyBinding::argocd-secrets-guard-binding";
    expect(resources.find(({ name }) => name === "argocd-secrets-store")?.dependencies).toContain(binding);
    expect(inputs("argocd-secrets-guard-binding")["spec"]).toMatchObject({
      policyName: "argocd-secrets-guard.fleet.internal",
      paramRef: { namespace: "argocd" },
    });
    const said = (store: string, name = "argocd-secrets", namespace = "argocd") =>
      refusal(inputs("argocd-secrets-guard-policy") as Manifest, {
        from: { apiVersion: "external-secrets.io/v1", kind: "SecretStore", metadata: { name, namespace } } as Manifest,
        namespace,
        namespaceLabels: { "kubernetes.io/metadata.name": namespace },
        parameters: {
          metadata: { name: "cluster-blue" },
          spec: { secretStoreRefs: [{ kind: "SecretStore", name: store }] },
        },
      });
    expect(said("argocd-secrets")).toMatch(
      /^SecretStore argocd-secrets goes after what it wrote; PushSecret cluster-blue still exists: set argocdSpokes /,
    );
    expect([said("other"), said("argocd-secrets", "other"), said("argocd-secrets", "argocd-secrets", "shop")]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const pushes = (all: typeof resources) =>
      all.filter(({ inputs }) => JSON.stringify(inputs).includes('"processPushSecret":true')).length;
    expect([pushes(resources), pushes(run("dev").resources)]).toEqual([1, 0]);
    expect(JSON.stringify(run("dev").resources.map(({ inputs }) => inputs))).not.toContain(
      "forceDeleteWithoutRecovery",
    );
  });

  it("tells Argo CD that it has rights in its own namespace of the hub only; without a role for spokes it tells of no limit", async () => {
    const ofHub = async (more: Record<string, string>) => {
      const { resources } = await runStack("dev", { argocdClusterSecret: "true", ...more });
      const secret = resources.find(({ name }) => name === "cluster-secret-argocd");
      return fromBase64(secret?.inputs["data"]);
    };
    const own = { argocdSpokes: "true", argocdNamespace: "cd" };
    expect(await ofHub(own)).toMatchObject({ namespaces: "cd", clusterResources: "false" });
    expect(Object.keys(await ofHub({})).sort()).toEqual(["config", "name", "server"]);
  });
});

describe("a stack with Grafana", () => {
  const group = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9";
  const boundary = "arn:aws:iam::222222222222:policy/platform";
  const withGrafana = (more: Record<string, string> = {}) =>
    runStack("dev", { metrics: "amp", grafana: "amg", ...more });

  it("makes a workspace whose address is an output, with a role that queries the fleet's metrics under the stack's boundary", async () => {
    const { resources, outputs } = await withGrafana({ permissionsBoundary: boundary });
    const [workspace] = resources.filter(({ type }) => type === "aws:grafana/workspace:Workspace");
    const arn = "arn:aws:iam::222222222222:role/fleet-dev-hub-grafana";
    expect(workspace?.inputs).toMatchObject({
      ...{ name: "fleet-dev", authenticationProviders: ["AWS_SSO"], roleArn: arn },
      tags: { "fleet.internal/fleet": "fleet-dev" },
    });
    expect(outputs["grafanaUrl"]).toMatch(/^https:\/\/g-\w{10}\.grafana-workspace\.eu-central-1\.amazonaws\.com$/);
    const role = resources.find(({ name }) => name === "grafana-reader-role");
    expect(role?.inputs).toMatchObject({ name: "fleet-dev-hub-grafana", permissionsBoundary: boundary });
    const granted = resources.find(({ name }) => name === "grafana-reader-policy");
    const { metrics_workspace_arn: metrics } = outputs["bridgeData"] as Record<string, string>;
    expect(JSON.parse(String(granted?.inputs["policy"])).Statement).toEqual([
      expect.objectContaining({ Resource: [metrics] }),
    ]);
  });

  it("gives groups the administration where the stack names some", async () => {
    const associations = async (more?: Record<string, string>) =>
      (await withGrafana(more)).resources.flatMap(({ type, inputs }) =>
        type === "aws:grafana/roleAssociation:RoleAssociation" ? [inputs] : [],
      );
    expect(await associations()).toEqual([]);
    expect(await associations({ grafanaAdminGroups: JSON.stringify([group]) })).toMatchObject([
      { role: "ADMIN", groupIds: [group] },
    ]);
  });

  it("is the only one that has anything of it", () => {
    expect(run("dev").resources.filter(({ type, name }) => /grafana/i.test(`${type} ${name}`))).toEqual([]);
    expect(run("dev").outputs["grafanaUrl"]).toBeNull();
  });
});

describe("what the stacks differ in is their configuration", () => {
  it("prod protects keys, credentials and cluster; dev protects nothing", () => {
    const protectedTypes = (stack: string) =>
      [
        ...new Set(
          run(stack)
            .resources.filter((r) => r.protect)
            .map(({ type }) => type),
        ),
      ].sort();
    expect(protectedTypes("dev")).toEqual([]);
    expect(protectedTypes("prod")).toEqual([
      "aws:iam/openIdConnectProvider:OpenIdConnectProvider",
      "aws:kms/key:Key",
      "aws:secretsmanager/secret:Secret",
      "eks-gitops-fleet:index:ManagedSecret",
      "eks:index:Cluster",
      "tls:index/privateKey:PrivateKey",
      "tls:index/selfSignedCert:SelfSignedCert",
    ]);
  });

  it("prod lets an administrator be removed: the entry is the cluster's neighbour, not under its protection", () => {
    const entries = run("prod").resources.filter(({ type }) => /^aws:eks\/access/.test(type));
    const admins = JSON.parse(stackConfig("prod")["eks-gitops-fleet:clusterAdmins"] ?? "[]");
    expect(entries).toHaveLength(2 * admins.length);
    expect(entries.length).toBeGreaterThan(0);
    for (const entry of entries)
      expect(entry, id(entry)).toMatchObject({ protect: false, parent: "eks-gitops-fleet:index:HubCluster::hub" });
    expect(one("prod", "eks:index:Cluster::hub")).toMatchObject({ protect: true });
    expect(one("prod", "eks:index:Cluster::hub").inputs).not.toHaveProperty("accessEntries");
    expect(one("prod", "pulumi:providers:kubernetes::hub-kubernetes").dependencies).toEqual(
      expect.arrayContaining(entries.map(id)),
    );
  });

  it("prod has a private endpoint, deletion protection and a boundary on every role; dev a restricted public endpoint", () => {
    expect(one("prod", "eks:index:Cluster::hub").inputs).toMatchObject({
      endpointPublicAccess: false,
      endpointPrivateAccess: true,
      deletionProtection: true,
    });
    expect(one("prod", "eks:index:Cluster::hub").inputs).not.toHaveProperty("publicAccessCidrs");
    expect(one("dev", "eks:index:Cluster::hub").inputs).toMatchObject({
      endpointPublicAccess: true,
      publicAccessCidrs: ["5.6.7.0/24"],
      deletionProtection: false,
    });
    const boundaries = (stack: string) =>
      run(stack)
        .resources.filter(({ type }) => type === "aws:iam/role:Role")
        .map(({ inputs }) => inputs["permissionsBoundary"]);
    expect(new Set(boundaries("prod"))).toEqual(new Set(["arn:aws:iam::222222222222:policy/platform-boundary"]));
    expect(new Set(boundaries("dev"))).toEqual(new Set([undefined]));
  });

  it("prod has a NAT gateway in each of three zones, dev one for both", () => {
    const count = (stack: string, type: string) =>
      run(stack).resources.filter((resource) => resource.type === type).length;
    expect(count("prod", "aws:ec2/natGateway:NatGateway")).toBe(3);
    expect(count("dev", "aws:ec2/natGateway:NatGateway")).toBe(1);
    expect(count("prod", "aws:ec2/subnet:Subnet")).toBe(6);
  });

  it("the outputs hold public values only", () => {
    for (const stack of ["dev", "prod"]) {
      const { outputs } = run(stack);
      expect(Object.keys(outputs).sort()).toEqual(
        [
          ...["activeSealingKeys", "bridgeData", "clusterArn", "clusterName", "deployPublicKeys", "gitWebhooks"],
          ...["grafanaUrl", "kubeconfig", "oidcIssuer", "oidcProviderArn", "sealingCertificates"],
        ].sort(),
      );
      expect(JSON.stringify(outputs)).not.toMatch(/PEM |OPENSSH |token:/);
    }
  });
});
