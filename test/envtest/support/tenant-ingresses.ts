import { allows, type Cases, type Requested, refuses, removals, tenantNamespace } from "./admission-request.ts";

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
  allows("an Ingress without annotations")(ingress({})),
  allows("an Ingress with a load balancer of its own")(ingress(own)),
  ...["group.name", "load-balancer-name", "security-groups", "subnets", "actions.other", "wafv2-acl-arn"].map((name) =>
    refuses(`an Ingress with ${name}`, refused("Ingress", name))(ingress({ ...own, [`${PREFIX}${name}`]: "other" })),
  ),
  allows("a Service with a health check of its own")(service({ [`${PREFIX}healthcheck-path`]: "/readyz" })),
  refuses(
    "a Service with actions of a load balancer",
    refused("Service", "actions.other"),
  )(service({ [`${PREFIX}actions.other`]: "{}" })),
  allows("a Service with a network load balancer of its own")(
    service({ [`${SERVICE_PREFIX}type`]: "external", [`${SERVICE_PREFIX}scheme`]: "internal" }),
  ),
  ...[
    ...["security-groups", "extra-security-groups", "subnets", "eip-allocations", "private-ipv4-addresses", "name"],
    ...["attributes", "access-log-s3-bucket-name", "additional-resource-tags", "target-node-labels"],
  ].map((name) =>
    refuses(
      `a Service with ${name}`,
      `Service trial may not have the annotation ${SERVICE_PREFIX}${name}:`,
    )(service({ [`${SERVICE_PREFIX}${name}`]: "other" })),
  ),
  ...removals(ingress(own), ingress(shared), refused("Ingress", "group.name")),
  allows("an Ingress of the platform in a group")(ingress(shared, "flux-system")),
];
