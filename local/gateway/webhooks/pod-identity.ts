import type { KubernetesObject } from "@kubernetes/client-node";
import { AGENT_ADDRESS } from "../../pod-identity-agent/address.ts";
import { POD_IDENTITY_SERVICE } from "../eks/pod-identity.ts";

/** The annotations of amazon-eks-pod-identity-webhook (its README), on service accounts and pods. */
const ANNOTATION = {
  roleArn: "eks.amazonaws.com/role-arn",
  audience: "eks.amazonaws.com/audience",
  expiration: "eks.amazonaws.com/token-expiration",
  regionalEndpoints: "eks.amazonaws.com/sts-regional-endpoints",
  skipContainers: "eks.amazonaws.com/skip-containers",
} as const;

/** How a pod gets its role: what is projected for it, and the variables by which the SDKs find that. */
interface Method {
  readonly volume: string;
  readonly mountPath: string;
  /** Within the mount. */
  readonly path: string;
  readonly audience: string;
  /** By the path of the token. */
  variables(tokenFile: string): { name: string; value: string }[];
}

/** IAM roles for service accounts: STS gives credentials for the token. */
const irsa = (roleArn: string, audience = "sts.amazonaws.com"): Method => ({
  volume: "aws-iam-token",
  mountPath: "/var/run/secrets/eks.amazonaws.com/serviceaccount",
  path: "token",
  audience,
  variables: (tokenFile) => [
    { name: "AWS_ROLE_ARN", value: roleArn },
    { name: "AWS_WEB_IDENTITY_TOKEN_FILE", value: tokenFile },
  ],
});

/** EKS Pod Identity: the agent on the pod's node does (EKS User Guide, "Understand how EKS Pod Identity works"). */
const podIdentity: Method = {
  volume: "eks-pod-identity-token",
  mountPath: "/var/run/secrets/pods.eks.amazonaws.com/serviceaccount",
  path: "eks-pod-identity-token",
  audience: POD_IDENTITY_SERVICE,
  variables: (tokenFile) => [
    { name: "AWS_CONTAINER_CREDENTIALS_FULL_URI", value: `http://${AGENT_ADDRESS}/v1/credentials` },
    { name: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", value: tokenFile },
  ],
};

/** Seconds; Kubernetes takes no less than the least. */
const EXPIRATION = { default: 86_400, least: 600 };

interface Container {
  name: string;
  env?: { name: string; value?: string }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean }[];
}

export interface Pod {
  metadata?: { annotations?: Record<string, string>; namespace?: string };
  spec: {
    serviceAccountName?: string;
    containers: Container[];
    initContainers?: Container[];
    volumes?: { name: string }[];
  };
}

export interface PatchOperation {
  readonly op: "add";
  readonly path: string;
  readonly value: unknown;
}

/** What a pod's service account has. */
export interface Account {
  readonly serviceAccount: KubernetesObject | undefined;
  /** Whether a pod identity association is for it. */
  readonly associated: boolean;
}

/**
 * What EKS adds to a pod whose service account has a role: volume with a projected token, and in every container
 * (init containers too, skipped ones not) its mount and the AWS variables. What a container sets itself stays. An association
 * counts before the annotation (amazon-eks-pod-identity-webhook, pkg/handler, buildPodPatchConfig).
 */
export function podPatch(pod: Pod, { serviceAccount, associated }: Account, region: string): PatchOperation[] {
  const account = serviceAccount?.metadata?.annotations ?? {};
  const roleArn = account[ANNOTATION.roleArn] ?? "";
  if (!associated && roleArn === "") return [];
  const method = associated ? podIdentity : irsa(roleArn, account[ANNOTATION.audience]);
  const own = pod.metadata?.annotations ?? {};
  const skipped = new Set((own[ANNOTATION.skipContainers] ?? "").split(",").map((name) => name.trim()));
  const expirationSeconds = expiration(own[ANNOTATION.expiration] ?? account[ANNOTATION.expiration]);
  const { volume: name, mountPath, path, audience } = method;
  const variables = [
    ...(account[ANNOTATION.regionalEndpoints] === "false"
      ? []
      : [{ name: "AWS_STS_REGIONAL_ENDPOINTS", value: "regional" }]),
    { name: "AWS_DEFAULT_REGION", value: region },
    { name: "AWS_REGION", value: region },
    ...method.variables(`${mountPath}/${path}`),
  ];
  const change = (container: Container): Container =>
    skipped.has(container.name) ? container : withIdentity(container, { name, mountPath, readOnly: true }, variables);
  const operations: PatchOperation[] = [
    { op: "add", path: "/spec/containers", value: pod.spec.containers.map(change) },
  ];
  if (pod.spec.initContainers !== undefined)
    operations.push({ op: "add", path: "/spec/initContainers", value: pod.spec.initContainers.map(change) });
  if (!(pod.spec.volumes ?? []).some((volume) => volume.name === name)) {
    const token = { audience, expirationSeconds, path };
    const volume = { name, projected: { sources: [{ serviceAccountToken: token }] } };
    operations.push({ op: "add", path: "/spec/volumes", value: [...(pod.spec.volumes ?? []), volume] });
  }
  return operations;
}

type Mount = NonNullable<Container["volumeMounts"]>[number];

function withIdentity(
  container: Container,
  mount: Mount,
  variables: readonly { name: string; value: string }[],
): Container {
  const env = container.env ?? [];
  const mounts = container.volumeMounts ?? [];
  const missing = variables.filter((variable) => !env.some((own) => own.name === variable.name));
  const mounted = mounts.some(({ mountPath }) => mountPath === mount.mountPath);
  return {
    ...container,
    env: [...env, ...missing],
    volumeMounts: mounted ? mounts : [...mounts, mount],
  };
}

function expiration(text: string | undefined): number {
  const seconds = text === undefined ? EXPIRATION.default : Number(text);
  // An unusable annotation is the default, as in EKS's webhook: it must not keep pods from starting.
  if (!Number.isInteger(seconds)) return EXPIRATION.default;
  return Math.max(seconds, EXPIRATION.least);
}

/** An AdmissionReview for a pod, as the API server sends it. */
export interface AdmissionReview {
  readonly request: { readonly uid: string; readonly namespace?: string; readonly object: Pod };
}

/** Answers an AdmissionReview for a new pod. `accountOf` looks up what its service account has. */
export async function admitPod(
  review: AdmissionReview,
  region: string,
  accountOf: (namespace: string, name: string) => Promise<Account>,
): Promise<object> {
  const { uid, namespace = "default", object: pod } = review.request;
  const account = await accountOf(namespace, pod.spec.serviceAccountName ?? "default");
  const patch = podPatch(pod, account, region);
  const patched =
    patch.length === 0 ? {} : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true, ...patched } };
}
