"""The AMIs of EKS that Systems Manager's public parameters name."""

import json
import os
import re

from .shared import replace

# EKS's account in most regions (eksctl, EKSResourceAccountID).
_OWNER = "602401143452"
_RELEASE = re.compile(r"/(amazon-eks-node-al2023-(x86_64|arm64)-[^/]+)/image_id$")


def images():
    """Name and architecture of each, by its id."""
    values = json.loads(os.environ["FLEET_PUBLIC_PARAMETERS"])
    found = ((_RELEASE.search(name), value) for name, value in values.items())
    return {value: match.groups() for match, value in found if match}


def extend(_app, _secret):
    """ministack has some images of its own; these are told with their architecture and the day of their release."""
    from ministack.services import ec2

    known = images()

    def with_ours(original):
        described = "EKS-optimized Kubernetes node based on Amazon Linux 2023"
        ours = [(id_, name, described, "", "/dev/xvda", _OWNER, "amazon") for id_, (name, _) in known.items()]
        return [*original, *ours]

    def view(original):
        def of(ami_id, *rest):
            architecture = {"Architecture": known[ami_id][1]} if ami_id in known else {}
            return {**original(ami_id, *rest), **architecture}

        return of

    describe = ec2._ACTION_MAP["DescribeImages"]

    def with_days(params):
        status, headers, body = describe(params)
        for id_, (name, _) in known.items():
            day = name[-8:]
            told, created = f"<imageId>{id_}</imageId>", f"{day[:4]}-{day[4:6]}-{day[6:]}T00:00:00.000Z"
            body = body.replace(told.encode(), f"{told}<creationDate>{created}</creationDate>".encode())
        return status, headers, body

    replace(ec2, "_STUB_AMIS", with_ours)
    replace(ec2, "_stub_image_view", view)
    ec2._ACTION_MAP["DescribeImages"] = with_days
