/** EKS clusters and their node groups. */
import { kubernetesVersions } from "../components/versions.ts";
import { auditLogTypes } from "../lib/eks-baseline.ts";
import { reserved, tooMany, tooWide, widths } from "./lib/cidr.ts";
import { each, resourceRule, strings } from "./lib/rule.ts";
import { environmentOf } from "./lib/tags.ts";
import { isSet, list, record, text, texts, words } from "./lib/values.ts";

const cluster = ["aws:eks/cluster:Cluster"];

const endpointCidrs = resourceRule({
  id: "eks-public-endpoint-cidrs",
  description: "A public Kubernetes endpoint admits named networks only, never the whole internet.",
  remediation:
    "Set endpointPublicAccessCidrs to the networks from which people and CI connect, or endpointPublicAccess to false.",
  parameters: widths,
  types: cluster,
  *check({ props }, limits) {
    const network = record(props["vpcConfig"]);
    // EKS's defaults are a public endpoint that admits everybody.
    if (network["endpointPublicAccess"] === false) return;
    const cidrs = list(network["publicAccessCidrs"]);
    if (cidrs.length === 0)
      yield "the public endpoint names no networks, so EKS admits 0.0.0.0/0: set publicAccessCidrs, or endpointPublicAccess to false";
    const message = (fault: string) =>
      `the public endpoint admits too much: ${fault}; set publicAccessCidrs to your own networks`;
    const narrow: string[] = [];
    yield* each(cidrs, function* (cidr) {
      const fault = tooWide(text(cidr), limits);
      const refused = reserved(text(cidr));
      if (fault) yield message(fault);
      else if (refused)
        yield `${refused}, so EKS refuses it: set publicAccessCidrs to the public addresses of your own networks`;
      else narrow.push(text(cidr));
    });
    const together = tooMany(narrow, limits);
    if (together) yield message(together);
  },
});

const secretsEncryption = resourceRule({
  id: "eks-secrets-encryption",
  description: "Kubernetes secrets are encrypted with a KMS key.",
  remediation: "Set encryptionConfig with the ARN of a customer managed key and the resource secrets.",
  types: cluster,
  *check({ props }) {
    const encryption = record(props["encryptionConfig"]);
    if (!isSet(record(encryption["provider"]), "keyArn"))
      yield "Kubernetes secrets are not encrypted with a key of yours: set encryptionConfig.provider.keyArn";
    else if (!texts(encryption["resources"]).includes("secrets"))
      yield `encryptionConfig covers ${words(texts(encryption["resources"]))}: it must name secrets`;
  },
});

const controlPlaneLogs = resourceRule({
  id: "eks-control-plane-logs",
  description: "The control plane logs to CloudWatch who did what, and who was let in.",
  remediation: "Add the missing types to enabledClusterLogTypes.",
  parameters: { logTypes: strings("Types of logs that must be on.", auditLogTypes) },
  types: cluster,
  *check({ props }, config) {
    const enabled = texts(props["enabledClusterLogTypes"]);
    const missing = config.logTypes.filter((type) => !enabled.includes(type));
    if (missing.length > 0)
      yield `enabledClusterLogTypes lacks ${words(missing)}: an attack would leave no trace there`;
  },
});

const authenticationMode = resourceRule({
  id: "eks-authentication-mode",
  description: "Access to a cluster comes from access entries only, never from the aws-auth ConfigMap.",
  remediation: "Set accessConfig.authenticationMode to API and turn the lines of aws-auth into access entries.",
  types: cluster,
  *check({ props }) {
    const mode = record(props["accessConfig"])["authenticationMode"];
    if (mode !== "API")
      yield `authenticationMode is ${text(mode) || "not set (EKS then takes CONFIG_MAP)"}: set it to API, so that access entries alone decide`;
  },
});

const supportedVersion = resourceRule({
  id: "eks-supported-version",
  description: "Clusters and node groups run a Kubernetes version that the fleet supports.",
  remediation: "Set a supported version; upgrade one minor at a time. components/versions.ts lists them.",
  parameters: { versions: strings("Kubernetes minor versions that may run.", kubernetesVersions) },
  types: [...cluster, "aws:eks/nodeGroup:NodeGroup"],
  *check({ props, type }, { versions }) {
    const version = text(props["version"]);
    // A node group without a version follows its cluster; a cluster without one gets EKS's present default.
    if (version === "" && !cluster.includes(type)) return;
    if (!versions.includes(version))
      yield `Kubernetes version ${version || "(none)"} is not supported: use ${versions.join(" or ")}`;
  },
});

const deletionProtection = resourceRule({
  id: "eks-deletion-protection",
  description: "A cluster of production can't be deleted by mistake.",
  remediation: "Set deletionProtection in the configuration of the stack.",
  parameters: { environments: strings("Environments (tag environment) that must be protected.", ["prod"]) },
  types: cluster,
  *check(resource, { environments }) {
    const environment = environmentOf(resource);
    if (environments.includes(environment) && resource.props["deletionProtection"] !== true)
      yield `deletionProtection is off in environment ${environment}: set it to true`;
  },
});

export const eksPolicies = [
  endpointCidrs,
  secretsEncryption,
  controlPlaneLogs,
  authenticationMode,
  supportedVersion,
  deletionProtection,
];
