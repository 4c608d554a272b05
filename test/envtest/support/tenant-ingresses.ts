import { type Cases, type Requested, removals, tenantNamespace } from "./admission-request.ts";

/** Ingresses of a tenant, and what tools/base/policies/tenant-ingresses.yaml says of them. */

const made = (
  apiVersion: string,
  kind: string,
  spec: object,
  annotations: Readonly<Record<string, string>>,
  namespace = tenantNamespace,
): Requested => ({ apiVersion, kind, metadata: { name: "trial", namespace, annotations: { ...annotations } }, spec });

const backend = { service: { name: "trial", port: { number: 80 } } };
const spec = { rules: [{ http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }] };
const ingress = (annotations: Readonly<Record<string, string>>, namespace?: string) =>
  made("networking.k8s.io/v1", "Ingress", { ingressClassName: "alb", ...spec }, annotations, namespace);
const service = (annotations: Readonly<Record<string, string>>) =>
  made("v1", "Service", { ports: [{ port: 80 }] }, annotations);

const PREFIX = "alb.ingress.kubernetes.io/";
const SERVICE_PREFIX = "service.beta.kubernetes.io/aws-load-balancer-";
const own = {
  [`${PREFIX}scheme`]: "internet-facing",
  [`${PREFIX}target-type`]: "ip",
  [`${PREFIX}healthcheck-path`]: "/readyz",
  "external-dns.alpha.kubernetes.io/hostname": "shop.example.com",
};
const shared = { ...own, [`${PREFIX}group.name`]: "shared" };
const refused = (kind: string, name: string) => `${kind} trial may not have the annotation ${PREFIX}${name}:`;

export const tenantIngresses: Cases = [
  { title: "an Ingress without annotations", object: ingress({}) },
  { title: "an Ingress with a load balancer of its own", object: ingress(own) },
  ...["group.name", "load-balancer-name", "security-groups", "subnets", "actions.other", "wafv2-acl-arn"].map(
    (name) => ({
      title: `an Ingress with ${name}`,
      object: ingress({ ...own, [`${PREFIX}${name}`]: "other" }),
      refused: refused("Ingress", name),
    }),
  ),
  { title: "a Service with a health check of its own", object: service({ [`${PREFIX}healthcheck-path`]: "/readyz" }) },
  {
    title: "a Service with actions of a load balancer",
    object: service({ [`${PREFIX}actions.other`]: "{}" }),
    refused: refused("Service", "actions.other"),
  },
  {
    title: "a Service with a network load balancer of its own",
    object: service({ [`${SERVICE_PREFIX}type`]: "external", [`${SERVICE_PREFIX}scheme`]: "internal" }),
  },
  ...[
    ...["security-groups", "extra-security-groups", "subnets", "eip-allocations", "private-ipv4-addresses", "name"],
    ...["attributes", "access-log-s3-bucket-name", "additional-resource-tags", "target-node-labels"],
  ].map((name) => ({
    title: `a Service with ${name}`,
    object: service({ [`${SERVICE_PREFIX}${name}`]: "other" }),
    refused: `Service trial may not have the annotation ${SERVICE_PREFIX}${name}:`,
  })),
  ...removals(ingress(own), ingress(shared), refused("Ingress", "group.name")),
  { title: "an Ingress of the platform in a group", object: ingress(shared, "flux-system") },
];
