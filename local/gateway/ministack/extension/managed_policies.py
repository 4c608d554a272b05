"""Policies of AWS for nodes that ministack does not have, in the words of the AWS Managed Policy Reference."""

import json

_PULL = ["ecr:GetAuthorizationToken", "ecr:BatchCheckLayerAvailability", "ecr:GetDownloadUrlForLayer", "ecr:BatchGetImage"]
_POLICIES = {
    "AmazonEC2ContainerRegistryPullOnly": [*_PULL, "ecr:BatchImportUpstreamImage"],
    "AmazonEC2ContainerRegistryReadOnly": [
        *_PULL, "ecr:GetRepositoryPolicy", "ecr:DescribeRepositories", "ecr:ListImages", "ecr:DescribeImages", "ecr:GetLifecyclePolicy",
        "ecr:GetLifecyclePolicyPreview", "ecr:ListTagsForResource", "ecr:DescribeImageScanFindings",
    ],
}


def extend(_app, _secret):
    """ministack attaches policies of AWS that it does not know, and says that they are not there: controllers that look first stop."""
    from ministack.services import iam

    for name, actions in _POLICIES.items():
        document = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": actions, "Resource": "*"}]})
        iam._aws_managed_policies.setdefault(f"{iam._AWS_MANAGED_POLICY_PREFIX}{name}", iam._make_aws_managed_record(name, document, ""))
