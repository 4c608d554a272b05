import { table } from "../../../aws/dynamodb/table.ts";
import { arn, from, reference } from "../fields.ts";
import { type Kind, named } from "../kind.ts";

export const kinds: readonly Kind[] = [
  {
    ...{ group: "dynamodb", kind: "Table", plural: "tables", handler: table, externalName: named("name") },
    asynchronous: true,
    spec: {
      attribute: from("attributes", { blocks: { name: "string", type: "string" } }),
      billingMode: "string",
      deletionProtectionEnabled: "boolean",
      globalSecondaryIndex: from("globalSecondaryIndexes", {
        blocks: {
          hashKey: "string",
          name: "string",
          nonKeyAttributes: "set",
          projectionType: "string",
          rangeKey: "string",
          readCapacity: "number",
          writeCapacity: "number",
        },
      }),
      hashKey: "string",
      localSecondaryIndex: from("localSecondaryIndexes", {
        blocks: { name: "string", nonKeyAttributes: "strings", projectionType: "string", rangeKey: "string" },
      }),
      pointInTimeRecovery: { block: { enabled: "boolean" } },
      rangeKey: "string",
      readCapacity: "number",
      serverSideEncryption: { block: { enabled: "boolean", kmsKeyArn: reference("kms/Key", arn) } },
      streamEnabled: "boolean",
      streamViewType: "string",
      tableClass: "string",
      ttl: { block: { attributeName: "string", enabled: "boolean" } },
      writeCapacity: "number",
    },
    status: { arn: "string", streamArn: "string", streamLabel: "string" },
  },
];
