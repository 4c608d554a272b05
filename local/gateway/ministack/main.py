"""ministack, with what the gateway needs of it added where requests are authorized.

Authorization belongs in one place: a second evaluator in front of ministack would sooner or later decide otherwise.
So the condition keys, resource names and checks that ministack 1.5.33 lacks are added to its own evaluation here:

- policy variables, aws:PrincipalArn as the role's ARN, aws:ResourceTag in boundaries;
- iam:PermissionsBoundary, iam:PolicyARN, iam:AWSServiceName and ARNs with paths for IAM;
- kms alias calls on the alias and its keys;
- iam:PassRole, with iam:PassedToService, wherever a call hands a role to a service;
- every resource that an EC2 call names or makes, with its tags, and ec2:CreateTags for tags that come with it;
- what EC2 refuses of VPC peering;
- tags of IAM's OIDC providers;
- tables named by their ARN in DynamoDB calls about tags; queue URLs under AWS's names are https;
- public parameters with the releases of EKS's AMIs, by ARNs without an account;
- EKS calls: the gateway owns the API and names action, resource and roles passed in a signed assertion;
- Service Quotas, and AWS's limits on VPCs, addresses, NAT gateways, gateway endpoints, roles and OIDC providers;
- web identity: only tokens that the gateway verified and signed again count;
- its root key is a secret (ministack takes "test" and any twelve digits), a request without a key is nobody's;
- every change is on disk before it is answered, sessions too (ministack saves on a clean stop only).

Environment: FLEET_MINISTACK_KEY (path of the key file shared with the gateway), STATE_DIR, BIND_HOST, GATEWAY_PORT,
FLEET_PUBLIC_PARAMETERS (JSON, values by name).
"""

import os
import sys

from extension.credentials import extend_credentials
from extension.dynamodb import extend_dynamodb
from extension.ec2 import extend_ec2
from extension.eks import extend_eks
from extension.iam import extend_iam
from extension.kms import extend_kms
from extension.pass_role import extend_pass_role
from extension.peering import extend_peering
from extension.persistence import extend_persistence
from extension.policy_variables import extend_policy_variables
from extension.quotas import extend_quotas
from extension.shared import root_key_id
from extension.sqs import extend_sqs
from extension.ssm import extend_ssm
from extension.web_identity import extend_web_identity

VERSION = "1.5.33"


def main():
    with open(os.environ["FLEET_MINISTACK_KEY"], encoding="ascii") as file:
        secret = bytes.fromhex(file.read().strip())
    os.environ.update(AUTH="true", PERSIST_STATE="1", AWS_ACCESS_KEY_ID=root_key_id(secret))
    os.makedirs(os.environ["STATE_DIR"], mode=0o700, exist_ok=True)
    from importlib.metadata import version

    if version("ministack") != VERSION:
        sys.exit(f"ministack {version('ministack')} is installed, this extension was written for {VERSION}")
    from ministack import app

    extend_credentials(root_key_id(secret))
    extend_policy_variables()
    extend_iam()
    extend_pass_role()
    extend_kms()
    extend_ec2()
    extend_peering()
    extend_dynamodb()
    extend_sqs()
    extend_ssm()
    extend_eks(app, secret)
    extend_quotas(app)
    extend_web_identity(secret)
    extend_persistence(app)
    app.main()


if __name__ == "__main__":
    main()
