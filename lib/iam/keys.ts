import { fleetTag } from "../labels.ts";
import type { Statement } from "./policy.ts";

/**
 * Makes KMS keys that carry the fleet's tag. Tags that come with CreateKey ask for kms:TagResource on no particular key (KMS Developer
 * Guide, "Controlling access to tags"). The price: a key of the account without this tag can be taken into the fleet; one that has it
 * already, this fleet's or another's, can't.
 */
export function createKeyStatements(fleet: string): Statement[] {
  const tagged = { [`aws:RequestTag/${fleetTag}`]: fleet };
  return [
    {
      Sid: "CreateKeys",
      Effect: "Allow",
      Action: ["kms:CreateKey"],
      Resource: ["*"],
      Condition: { StringEquals: tagged },
    },
    {
      Sid: "TagNewKeys",
      Effect: "Allow",
      Action: ["kms:TagResource"],
      Resource: ["*"],
      Condition: { StringEquals: tagged, Null: { [`aws:ResourceTag/${fleetTag}`]: "true" } },
    },
  ];
}
