import type { KubernetesObject } from "@kubernetes/client-node";

/** The annotations of amazon-eks-pod-identity-webhook (its README), on service accounts and pods. */
const ANNOTATION = {
  roleArn: "eks.amazonaws.com/role-arn",
  audience: "eks.amazonaws.com/audience",
  expiration: "eks.amazonaws.com/token-expiration",
  regionalEndpoints: "eks.amazonaws.com/sts-regional-endpoints",
  skipContainers: "eks.amazonaws.com/skip-containers",
} as const;

const VOLUME = "aws-iam-token";
const MOUNT_PATH = "/var/run/secrets/eks.amazonaws.com/serviceaccount";
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

/**
 * What EKS adds to a pod whose service account carries a role: volume with a projected token, and in every container
 * (init containers too, skipped ones not) its mount and the AWS variables. What a container sets itself stays.
 */
export function podPatch(pod: Pod, serviceAccount: KubernetesObject | undefined, region: string): PatchOperation[] {
  const account = serviceAccount?.metadata?.annotations ?? {};
  const roleArn = account[ANNOTATION.roleArn];
  if (roleArn === undefined || roleArn === "") return [];
  const own = pod.metadata?.annotations ?? {};
  const skipped = new Set((own[ANNOTATION.skipContainers] ?? "").split(",").map((name) => name.trim()));
  const expirationSeconds = expiration(own[ANNOTATION.expiration] ?? account[ANNOTATION.expiration]);
  const variables = [
    ...(account[ANNOTATION.regionalEndpoints] === "false"
      ? []
      : [{ name: "AWS_STS_REGIONAL_ENDPOINTS", value: "regional" }]),
    { name: "AWS_DEFAULT_REGION", value: region },
    { name: "AWS_REGION", value: region },
    { name: "AWS_ROLE_ARN", value: roleArn },
    { name: "AWS_WEB_IDENTITY_TOKEN_FILE", value: `${MOUNT_PATH}/token` },
  ];
  const change = (container: Container): Container =>
    skipped.has(container.name) ? container : withIdentity(container, variables);
  const operations: PatchOperation[] = [
    { op: "add", path: "/spec/containers", value: pod.spec.containers.map(change) },
  ];
  if (pod.spec.initContainers !== undefined)
    operations.push({ op: "add", path: "/spec/initContainers", value: pod.spec.initContainers.map(change) });
  if (!(pod.spec.volumes ?? []).some((volume) => volume.name === VOLUME)) {
    const token = { audience: account[ANNOTATION.audience] ?? "sts.amazonaws.com", expirationSeconds, path: "token" };
    const volume = { name: VOLUME, projected: { sources: [{ serviceAccountToken: token }] } };
    operations.push({ op: "add", path: "/spec/volumes", value: [...(pod.spec.volumes ?? []), volume] });
  }
  return operations;
}

function withIdentity(container: Container, variables: readonly { name: string; value: string }[]): Container {
  const env = container.env ?? [];
  const mounts = container.volumeMounts ?? [];
  const missing = variables.filter((variable) => !env.some((own) => own.name === variable.name));
  const mounted = mounts.some((mount) => mount.mountPath === MOUNT_PATH);
  return {
    ...container,
    env: [...env, ...missing],
    volumeMounts: mounted ? mounts : [...mounts, { name: VOLUME, mountPath: MOUNT_PATH, readOnly: true }],
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

/** Answers an AdmissionReview for a new pod. `serviceAccount` looks one up in the pod's cluster. */
export async function admitPod(
  review: AdmissionReview,
  region: string,
  serviceAccount: (namespace: string, name: string) => Promise<KubernetesObject | undefined>,
): Promise<object> {
  const { uid, namespace = "default", object: pod } = review.request;
  const account = await serviceAccount(namespace, pod.spec.serviceAccountName ?? "default");
  const patch = podPatch(pod, account, region);
  const patched =
    patch.length === 0 ? {} : { patchType: "JSONPatch", patch: Buffer.from(JSON.stringify(patch)).toString("base64") };
  return { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: { uid, allowed: true, ...patched } };
}
