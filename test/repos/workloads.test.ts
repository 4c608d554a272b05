import { readFileSync } from "node:fs";
import { join } from "node:path";
import { imageReferences } from "@eks-gitops-fleet/local/toolchain";
import { describe, expect, test } from "vitest";
import { fillTemplate } from "../../lib/template.ts";
import { example, stored } from "../functions/spoke/support/fixtures.ts";
import type { Manifest } from "./support/kustomize.ts";
import { build, generated } from "./support/kustomize.ts";
import { orderedKinds } from "./support/ordered.ts";
import { app, instantiated, render, repos, system, withAddons } from "./support/spoke.ts";

const spoke = example("minimal");
const production = withAddons("production", []);
const rendered = render(spoke);
const governed = rendered.by("workloads");
const ordered = rendered.by(app.app);
const of = (objects: readonly Manifest[], kind: string, group = ""): Manifest => {
  const found = objects.filter((object) => object.kind === kind && object.apiVersion.startsWith(group));
  expect(found, kind).toHaveLength(1);
  return found[0] as Manifest;
};

const cluster = "fleet-spoke-blue";

describe("an application's folder in gitops-workloads", () => {
  test("is of one namespace, and of nothing cluster-wide but that namespace", () => {
    for (const { kind, metadata } of governed)
      if (kind === "Namespace") expect(metadata.name).toBe(app.app);
      else expect(metadata.namespace, `${kind} ${metadata.name}`).toBe(app.app);
    expect(governed.map(({ kind }) => kind)).not.toContain("ClusterRoleBinding");
  });

  test("has the namespace run restricted pods only, under quota", () => {
    expect(of(governed, "Namespace").metadata.labels).toMatchObject({
      "pod-security.kubernetes.io/enforce": "restricted",
      "pod-security.kubernetes.io/audit": "restricted",
      "pod-security.kubernetes.io/warn": "restricted",
      "fleet.internal/tenant": app.tenant,
    });
    expect(of(governed, "ResourceQuota").spec).toEqual({
      hard: {
        "requests.cpu": "2",
        "limits.cpu": "8",
        "requests.memory": "2Gi",
        "limits.memory": "4Gi",
        "limits.ephemeral-storage": "20Gi",
        "requests.storage": "50Gi",
        persistentvolumeclaims: "5",
        pods: "20",
        configmaps: "50",
        secrets: "50",
        services: "20",
        "services.loadbalancers": "0",
        "services.nodeports": "0",
        "count/cronjobs.batch": "20",
        "count/deployments.apps": "20",
        "count/ingresses.networking.k8s.io": "20",
        "count/jobs.batch": "50",
        "count/replicasets.apps": "200",
        "count/serviceaccounts": "20",
        "count/statefulsets.apps": "20",
      },
    });
  });

  test("gives containers that ask for nothing what the quota asks for", () => {
    const { hard } = of(governed, "ResourceQuota").spec;
    const [{ type, default: limits, defaultRequest: requests }] = of(governed, "LimitRange").spec.limits;
    expect(type).toBe("Container");
    // Without a request of its own, a limit is the request too, and pods are placed by it.
    expect(Object.keys(requests)).toEqual(Object.keys(limits));
    const given = [
      ...Object.keys(limits).map((name) => `limits.${name}`),
      ...Object.keys(requests).map((name) => `requests.${name}`),
    ];
    const asked = Object.keys(hard).filter((name) => /^(limits|requests)\.(cpu|memory|ephemeral-storage)$/.test(name));
    expect(given).toEqual(expect.arrayContaining(asked));
  });

  test("lets nothing in or out but DNS, AWS's APIs over TLS, databases in the VPC, the application's port from the platform and from load balancers where the cluster has any, and its metrics from Prometheus", () => {
    const policies = governed.filter(({ kind }) => kind === "NetworkPolicy");
    const everyPod = { podSelector: {} };
    expect(Object.fromEntries(policies.map(({ metadata, spec }) => [metadata.name, spec]))).toEqual({
      "default-deny": { ...everyPod, policyTypes: ["Ingress", "Egress"] },
      "allow-dns": {
        ...everyPod,
        policyTypes: ["Egress"],
        egress: [
          {
            to: [
              {
                namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "kube-system" } },
                podSelector: { matchLabels: { "k8s-app": "kube-dns" } },
              },
              { ipBlock: { cidr: "172.20.0.10/32" } },
              { ipBlock: { cidr: "10.100.0.10/32" } },
            ],
            ports: [
              { port: 53, protocol: "UDP" },
              { port: 53, protocol: "TCP" },
            ],
          },
        ],
      },
      "allow-aws": {
        ...everyPod,
        policyTypes: ["Egress"],
        egress: [
          {
            to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["169.254.0.0/16"] } }],
            ports: [{ port: 443, protocol: "TCP" }],
          },
        ],
      },
      "allow-databases": {
        ...everyPod,
        policyTypes: ["Egress"],
        egress: [
          {
            to: [{ ipBlock: { cidr: "10.98.0.0/18" } }],
            ports: [
              { port: 5432, protocol: "TCP" },
              { port: 3306, protocol: "TCP" },
            ],
          },
        ],
      },
      "allow-http": {
        ...everyPod,
        policyTypes: ["Ingress"],
        ingress: [
          {
            from: [
              { namespaceSelector: { matchExpressions: [{ key: "fleet.internal/tenant", operator: "DoesNotExist" }] } },
            ],
            ports: [{ port: "http", protocol: "TCP" }],
          },
        ],
      },
      "allow-load-balancers": {
        ...everyPod,
        policyTypes: ["Ingress"],
        ingress: [
          // Without the add-on nobody has this address. An empty list would admit everybody.
          { from: [{ ipBlock: { cidr: "255.255.255.255/32" } }], ports: [{ port: "http", protocol: "TCP" }] },
        ],
      },
      "allow-metrics": {
        ...everyPod,
        policyTypes: ["Ingress"],
        ingress: [
          {
            from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "prometheus" } } }],
            ports: [{ port: "http-metrics", protocol: "TCP" }],
          },
        ],
      },
    });
  });

  test("takes the application from the branch of its repository, with the key sealed for it", () => {
    expect(of(governed, "GitRepository").spec).toEqual({
      url: app.repositoryUrl,
      provider: "generic",
      ref: { branch: app.revision },
      secretRef: { name: `${app.app}-git` },
      interval: "30s",
      timeout: "60s",
    });
  });

  test("is ready when what it orders in AWS is there, and gone when that is gone", () => {
    const { spec } = of(governed, "Kustomization");
    expect(spec).toMatchObject({
      interval: "10m",
      retryInterval: "10s",
      prune: true,
      wait: true,
      deletionPolicy: "WaitForTermination",
      postBuild: { substituteFrom: [{ kind: "ConfigMap", name: of(governed, "ConfigMap").metadata.name }] },
    });
    const judged = {
      inProgress: "!has(status.conditions)",
      current: expect.stringMatching(/^\['Ready', 'Synced'\]\.all\(.*condition\.status == 'True'\)\)$/),
    };
    expect(spec.healthCheckExprs).toEqual(
      orderedKinds
        .map((name) => name.split("."))
        .map(([service, kind]) => ({ apiVersion: `${service}.aws.m.upbound.io/v1beta1`, kind, ...judged })),
    );
    const inAws = ordered.filter(({ apiVersion }) => apiVersion.includes(".aws.m.upbound.io/"));
    expect(inAws.map(({ kind }) => kind).sort()).toEqual(["Queue", "Table"]);
  });

  test("has Flux apply what the team pushes under a service account without any right to hand out rights", () => {
    expect(of(governed, "Kustomization").spec).toMatchObject({
      serviceAccountName: "deployer",
      targetNamespace: app.app,
      sourceRef: { kind: "GitRepository", name: app.app },
    });
    const all = ["get", "list", "watch", "create", "update", "patch", "delete"];
    const read = ["get", "list", "watch"];
    const rule = (group: string, resources: readonly string[], verbs: readonly string[] = all) => ({
      apiGroups: [group],
      resources,
      verbs,
    });
    // The whole list: a right that is not here is one that nobody thought about.
    expect(of(governed, "Role", "rbac.").rules).toEqual([
      rule("", ["configmaps", "persistentvolumeclaims", "serviceaccounts", "services"]),
      rule("apps", ["deployments", "statefulsets"]),
      rule("batch", ["cronjobs", "jobs"]),
      rule("autoscaling", ["horizontalpodautoscalers"]),
      rule("policy", ["poddisruptionbudgets"]),
      rule("networking.k8s.io", ["ingresses"]),
      rule("bitnami.com", ["sealedsecrets"]),
      rule("dynamodb.aws.m.upbound.io", ["tables"]),
      rule("rds.aws.m.upbound.io", ["instances"]),
      rule("s3.aws.m.upbound.io", ["buckets", "bucketversionings"]),
      rule("sqs.aws.m.upbound.io", ["queues"]),
      rule("", ["pods", "events"], read),
      rule("apps", ["replicasets"], read),
    ]);
    const granted = governed.filter(({ apiVersion }) => apiVersion.startsWith("rbac.authorization.k8s.io/"));
    expect(granted.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      "Role deployer",
      "RoleBinding deployer",
    ]);
    expect(of(governed, "ServiceAccount")["automountServiceAccountToken"]).toBe(false);
    const { roleRef, subjects } = of(governed, "RoleBinding");
    expect({ roleRef, subjects }).toEqual({
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "deployer" },
      subjects: [{ kind: "ServiceAccount", name: "deployer", namespace: app.app }],
    });
  });

  test("lets the team order the kinds that fleet onboard offers, and never change its namespace", () => {
    const { rules } = of(governed, "Role", "rbac.");
    const ordering = rules.flatMap(({ apiGroups, resources }: Record<string, string[]>) =>
      (apiGroups ?? [])
        .filter((group) => group.endsWith(".aws.m.upbound.io"))
        .flatMap((group) => (resources ?? []).map((resource) => `${group.split(".")[0]}.${resource}`)),
    );
    expect(ordering).toEqual(orderedKinds.map((kind) => `${kind.toLowerCase()}s`));
    const everything = rules.flatMap(({ resources }: Record<string, string[]>) => resources ?? []);
    expect(everything.filter((name: string) => name === "*" || name.startsWith("namespaces"))).toEqual([]);
  });

  test("gives the team every right that its manifests need", () => {
    const { rules } = of(governed, "Role", "rbac.");
    for (const { apiVersion, kind } of ordered) {
      const group = apiVersion.includes("/") ? apiVersion.split("/")[0] : "";
      const plural = `${kind.toLowerCase().replace(/y$/, "ie")}s`;
      const may = rules.some(
        ({ apiGroups, resources, verbs }: Record<string, string[]>) =>
          apiGroups?.includes(group as string) && resources?.includes(plural) && verbs?.includes("patch"),
      );
      expect(may, `${plural}.${group}`).toBe(true);
    }
  });

  test("gives the pods a role under the tenants' boundary, which their service account alone assumes", () => {
    const { metadata, spec } = of(governed, "Role", "iam.");
    expect(metadata.annotations?.["crossplane.io/external-name"]).toBe(`${cluster}_${app.app}`);
    expect(spec.forProvider.permissionsBoundary).toBe(rendered.bridge["tenant_boundary_arn"]);
    const trust = JSON.parse(spec.forProvider.assumeRolePolicy);
    const issuer = rendered.bridge["oidc_provider"];
    expect(trust.Statement).toEqual([
      {
        Effect: "Allow",
        Principal: { Federated: rendered.bridge["oidc_provider_arn"] },
        Action: "sts:AssumeRoleWithWebIdentity",
        Condition: {
          StringEquals: {
            [`${issuer}:sub`]: `system:serviceaccount:${app.app}:${app.app}`,
            [`${issuer}:aud`]: "sts.amazonaws.com",
          },
        },
      },
    ]);
  });

  test("makes the role and its policy with the spoke's own identity, tagged as the tenants' boundary compares them", () => {
    const provider = of(governed, "ProviderConfig");
    expect(provider.spec).toEqual({ credentials: { source: "IRSA" } });
    const role = of(governed, "Role", "iam.");
    const policy = of(governed, "RolePolicy");
    for (const { spec } of [role, policy])
      expect(spec.providerConfigRef).toEqual({ kind: "ProviderConfig", name: provider.metadata.name });
    expect(policy.spec.forProvider.roleRef).toEqual({ name: role.metadata.name });
    expect(role.spec.forProvider).toMatchObject({
      description: `Pods of ${app.app} on ${cluster}`,
      // The namespace goes in one commit, whatever else was attached meanwhile.
      forceDetachPolicies: true,
      tags: {
        "fleet.internal/fleet": rendered.bridge["fleet"],
        "fleet.internal/cluster": spoke.metadata.name,
        "fleet.internal/tenant": app.tenant,
        "eks-cluster-name": cluster,
        "kubernetes-namespace": app.app,
      },
    });
  });

  test("lets the role reach its own tables, queues and buckets only", () => {
    const policy = JSON.parse(of(governed, "RolePolicy").spec.forProvider.policy);
    const resources = policy.Statement.flatMap(({ Resource }: { Resource: string[] }) => Resource);
    expect(resources).toEqual([
      `arn:aws:dynamodb:us-east-1:000000000000:table/${cluster}_${app.app}_*`,
      `arn:aws:sqs:us-east-1:000000000000:${cluster}_${app.app}_*`,
      `arn:aws:s3:::${cluster}--${app.app}--*`,
    ]);
    const [, , buckets] = policy.Statement;
    // The ARN of a bucket doesn't say whose it is.
    expect(buckets.Condition).toEqual({ StringEquals: { "s3:ResourceAccount": "000000000000" } });
  });
});

describe("payment-app-manifests", () => {
  test("orders a table and a queue under the application's name, through the namespace's ProviderConfig", () => {
    const table = of(ordered, "Table");
    const queue = of(ordered, "Queue");
    expect(table.metadata.annotations?.["crossplane.io/external-name"]).toBe(`${cluster}_${app.app}_payments`);
    expect(queue.spec.forProvider.name).toBe(`${cluster}_${app.app}_events`);
    const config = of(governed, "ProviderConfig");
    for (const { spec } of [table, queue])
      expect(spec.providerConfigRef).toEqual({ kind: "ProviderConfig", name: config.metadata.name });
  });

  test("runs podinfo, in the version that the toolchain builds, as pods that a restricted namespace admits", () => {
    const { template } = of(ordered, "Deployment").spec;
    const [container] = template.spec.containers;
    expect(container.image).toBe(imageReferences.podinfo);
    expect(template.spec.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: "RuntimeDefault" },
    });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
  });

  test("has its pods act as the role that the governance team made", () => {
    const annotations = of(ordered, "ServiceAccount").metadata.annotations;
    expect(annotations?.["eks.amazonaws.com/role-arn"]).toBe(`arn:aws:iam::000000000000:role/${cluster}_${app.app}`);
    expect(of(ordered, "Deployment").spec.template.spec.serviceAccountName).toBe(app.app);
  });

  test("answers on port 80 of its Service, from the pods of the Deployment", () => {
    const { selector, ports } = of(ordered, "Service").spec;
    const { template } = of(ordered, "Deployment").spec;
    expect(template.metadata.labels).toMatchObject(selector);
    expect(ports).toEqual([{ name: "http", port: 80, targetPort: "http" }]);
    expect(template.spec.containers[0].ports).toContainEqual({ name: "http", containerPort: 9898 });
  });

  test("is stronger in prod: two pods, a disruption budget, point-in-time recovery", () => {
    const prod = render(production).by(app.app);
    expect(of(prod, "Deployment").spec.replicas).toBe(2);
    expect(of(prod, "PodDisruptionBudget").spec).toMatchObject({ maxUnavailable: 1 });
    expect(of(prod, "Table").spec.forProvider.pointInTimeRecovery).toEqual({ enabled: true });
    expect(of(prod, "Table").spec.forProvider.hashKey).toBe("payment_id");
  });
});

describe("the template of a spoke", () => {
  const values = {
    name: "green",
    fleet: "fleet",
    environment: "prod",
    region: "us-east-1",
    kubernetesVersion: "1.35",
    tenant: "payments",
  };

  test("is a Spoke that the API completes, alone in what the hub gets", () => {
    const objects = instantiated(join(system, "templates", "spoke"), values, {}, generated);
    expect(objects).toHaveLength(1);
    const { metadata, spec } = stored(objects[0] as unknown as Record<string, unknown>);
    expect(metadata).toMatchObject({ name: "green", namespace: "spokes" });
    expect(spec).toMatchObject({ environment: "prod", kubernetesVersion: "1.35", nodes: { min: 2 } });
  });

  test("names the placeholders that got no value", () => {
    const text = readFileSync(join(system, "templates", "spoke", "spoke.yaml"), "utf8");
    expect(() => fillTemplate(text, { name: "green" })).toThrow(
      "the template needs fleet, environment, region, kubernetesVersion, tenant; got name",
    );
  });

  test("makes no difference to the hub while there is no spoke", () => {
    expect(generated(join(system, "spokes"))).toEqual([]);
  });
});

describe("the way in of the sample application", () => {
  const overlay = (name: string) => build(join(repos, "payment-app-manifests", "overlays", name));
  const ingressOf = (name: string) => of(overlay(name), "Ingress");

  test.each(["dev", "prod"])("is what the %s overlay with a door has beside the one without", (environment) => {
    const without = overlay(environment);
    expect(without.map(({ kind }) => kind)).not.toContain("Ingress");
    expect(overlay(`${environment}-door`).filter(({ kind }) => kind !== "Ingress")).toEqual(without);
  });

  test.each(["dev-door", "prod-door"])(
    "in %s leads the internet to the port of the pods that NetworkPolicies admit",
    (name) => {
      const { metadata, spec } = ingressOf(name);
      expect(spec.ingressClassName).toBe("alb");
      expect(metadata.annotations).toMatchObject({
        "alb.ingress.kubernetes.io/scheme": "internet-facing",
        "alb.ingress.kubernetes.io/target-type": "ip",
      });
      const [{ name: service, port }] = spec.rules.flatMap(
        ({ http }: { http: { paths: { backend: { service: object } }[] } }) =>
          http.paths.map(({ backend }) => backend.service),
      );
      const found = of(overlay(name), "Service");
      expect(found.metadata.name).toBe(service);
      expect(found.spec.ports).toContainEqual({ name: port.name, port: 80, targetPort: "http" });
      const admitted = of(
        governed.filter(({ metadata: { name: policy } }) => policy === "allow-load-balancers"),
        "NetworkPolicy",
      );
      expect(admitted.spec.ingress[0].ports).toEqual([{ port: "http", protocol: "TCP" }]);
    },
  );

  test("is by HTTPS under a name in prod", () => {
    const { metadata, spec } = ingressOf("prod-door");
    expect(metadata.annotations).toMatchObject({ "alb.ingress.kubernetes.io/ssl-redirect": "443" });
    expect(spec.rules).toMatchObject([{ host: "payments.example.com" }]);
  });
});
