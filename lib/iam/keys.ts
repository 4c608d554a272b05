import { fleetTag } from "../labels.ts";
import { arns, type Scope, type Statement } from "./policy.ts";

type FleetScope = Scope & { readonly fleet: string };

/** EKS asks for it with the caller's rights; nobody can ask for one of their own. */
export const grantKeysStatement = (scope: FleetScope): Statement => ({
  Sid: "GrantKeys",
  Effect: "Allow",
  Action: ["kms:CreateGrant"],
  Resource: [arns(scope).kmsKey("*")],
  Condition: {
    StringEquals: { [`aws:ResourceTag/${fleetTag}`]: scope.fleet },
    Bool: { "kms:GrantIsForAWSResource": "true" },
  },
});

/**
 * The life of KMS keys: made with the fleet's tag, managed by it. Tags that come with CreateKey ask for kms:TagResource on no particular
 * key (KMS Developer Guide, "Controlling access to tags"). The price: a key of the account without this tag can be taken into the fleet;
 * one that has it already, this fleet's or another's, can't.
 */
export function keyStatements(scope: FleetScope): Statement[] {
  const Resource = [arns(scope).kmsKey("*")];
  const tagged = { [`aws:RequestTag/${fleetTag}`]: scope.fleet };
  const ofFleet = { [`aws:ResourceTag/${fleetTag}`]: scope.fleet };
  return [
    {
      Sid: "MakeKeys",
      Effect: "Allow",
      Action: ["kms:CreateKey", "kms:TagResource"],
      Resource: ["*"],
      Condition: { StringEquals: tagged, Null: { [`aws:ResourceTag/${fleetTag}`]: "true" } },
    },
    {
      Sid: "ChangeKeys",
      Effect: "Allow",
      Action: ["kms:*Alias", "kms:ScheduleKeyDeletion", "kms:*agResource", "kms:UpdateKeyDescription"],
      Resource,
      Condition: { StringEquals: ofFleet },
    },
    {
      // Called right after CreateKey, when new tags may not count yet (KMS Developer Guide, "ABAC for AWS KMS").
      Sid: "ReadKeys",
      Effect: "Allow",
      Action: [
        "kms:DescribeKey",
        "kms:EnableKeyRotation",
        "kms:GetKeyPolicy",
        "kms:GetKeyRotationStatus",
        "kms:ListResourceTags",
      ],
      Resource,
    },
  ];
}
