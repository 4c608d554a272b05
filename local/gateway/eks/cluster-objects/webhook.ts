import type { KubernetesObject } from "@kubernetes/client-node";

/**
 * The registration of the pod identity webhook, under EKS's own name. Unlike EKS (Ignore), a pod is not admitted while the
 * gateway restarts: it would run without its role for good, while its controller simply tries again.
 */
export function podIdentityWebhook(url: string, caCertificate: string): KubernetesObject {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfiguration",
    metadata: { name: "pod-identity-webhook" },
    webhooks: [
      {
        name: "iam-for-pods.amazonaws.com",
        admissionReviewVersions: ["v1"],
        clientConfig: { url, caBundle: Buffer.from(caCertificate).toString("base64") },
        failurePolicy: "Fail",
        reinvocationPolicy: "IfNeeded",
        sideEffects: "None",
        timeoutSeconds: 10,
        rules: [
          { apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"], scope: "Namespaced" },
        ],
      },
    ],
  } as KubernetesObject;
}
