import * as aws from "@pulumi/aws";
import * as pulumi from "@pulumi/pulumi";
import { IrsaRole, policy } from "eks-gitops-fleet/components";

const config = new pulumi.Config();
const { partition } = aws.getPartitionOutput({});
const { region } = aws.getRegionOutput({});
const { accountId } = aws.getCallerIdentityOutput({});

const role = new IrsaRole("shop-orders", {
  description: "Orders of the shop send messages to queues of the shop",
  oidc: { issuer: config.require("oidcIssuer"), providerArn: config.require("oidcProviderArn") },
  subject: { namespace: "shop", serviceAccount: "orders" },
  policy: pulumi.interpolate`arn:${partition}:sqs:${region}:${accountId}:shop-*`.apply((queues) =>
    policy({ Effect: "Allow", Action: ["sqs:SendMessage"], Resource: [queues] }),
  ),
});

/** The annotation of the service account: `eks.amazonaws.com/role-arn`. */
export const roleArn = role.arn;
