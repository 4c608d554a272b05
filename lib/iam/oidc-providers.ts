import { fleetTag } from "../labels.ts";
import { arns, type Scope, type Statement } from "./policy.ts";

/**
 * IAM OIDC providers of EKS clusters: made with the fleet's tag, managed by it. Tags that come with the creation ask for
 * TagOpenIDConnectProvider on a provider that has none yet (IAM User Guide, "Tag OpenID Connect identity providers"). They are read right
 * after it, so that asks for no tag.
 */
export function oidcProviderStatements(scope: Scope & { readonly fleet: string }): Statement[] {
  const { eksOidcProviders: Resource, oidcProvider } = arns(scope);
  const ofFleet = { [`aws:ResourceTag/${fleetTag}`]: scope.fleet };
  return [
    {
      Sid: "MakeOidcProviders",
      Effect: "Allow",
      Action: ["iam:CreateOpenIDConnectProvider", "iam:TagOpenIDConnectProvider"],
      Resource,
      Condition: {
        StringEquals: { [`aws:RequestTag/${fleetTag}`]: scope.fleet },
        Null: { [`aws:ResourceTag/${fleetTag}`]: "true" },
      },
    },
    {
      Sid: "OidcProviders",
      Effect: "Allow",
      Action: [
        "iam:DeleteOpenIDConnectProvider",
        "iam:*agOpenIDConnectProvider",
        "iam:UpdateOpenIDConnectProviderThumbprint",
      ],
      Resource,
      Condition: { StringEquals: ofFleet },
    },
    {
      Sid: "ReadOidcProviders",
      Effect: "Allow",
      Action: ["iam:GetOpenIDConnectProvider", "iam:ListOpenIDConnectProviderTags"],
      Resource: [oidcProvider("oidc?eks.*")],
    },
  ];
}
