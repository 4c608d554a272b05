import { EncryptionKey, SealingKeys } from "eks-gitops-fleet/components";

const key = new EncryptionKey("shop-secrets", { description: "Sealing keys of the shop" });
const sealingKeys = new SealingKeys("shop", {
  // Of dev the second generation seals; what the first one sealed can still be read.
  keys: [
    { scope: "dev", generation: "1", active: false },
    { scope: "dev", generation: "2", active: true },
    { scope: "prod", generation: "1", active: true },
  ],
  keyArn: key.arn,
});

/** Public certificates for `kubeseal --cert`, by scope and generation, and the generation to use in each scope. */
export const { certificates, active } = sealingKeys;
