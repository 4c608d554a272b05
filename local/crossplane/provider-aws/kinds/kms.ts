import { alias } from "../../../aws/kms/alias.ts";
import { key } from "../../../aws/kms/key.ts";
import { reference } from "../fields.ts";
import { assigned, type Kind } from "../kind.ts";

const group = "kms";

export const kinds: readonly Kind[] = [
  {
    ...{ group, kind: "Key", plural: "keys", handler: key, externalName: assigned },
    spec: {
      customerMasterKeySpec: "string",
      deletionWindowInDays: "number",
      description: "string",
      enableKeyRotation: "boolean",
      isEnabled: "boolean",
      keyUsage: "string",
      multiRegion: "boolean",
      policy: "string",
      rotationPeriodInDays: "number",
    },
    status: { arn: "string", keyId: "string" },
  },
  {
    ...{ group, kind: "Alias", plural: "aliases", handler: alias },
    externalName: {
      kind: "name",
      input: "name",
      value: (name) => (name.startsWith("alias/") ? name : `alias/${name}`),
    },
    spec: { targetKeyId: reference("kms/Key") },
    status: { arn: "string", targetKeyArn: "string" },
  },
];
