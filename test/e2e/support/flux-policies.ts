/** NetworkPolicies of flux-system on the hub and on every spoke: one more could admit others. */
export const fluxPolicies: readonly string[] = [
  ...["allow-any-port", "allow-dns", "allow-https", "allow-kubeseal", "allow-metrics", "allow-peers"],
  ...["allow-pod-identity", "allow-receivers", "allow-webhooks", "default-deny"],
];
