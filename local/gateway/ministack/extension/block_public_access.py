"""VPC Block Public Access: the mode of an account in a region, and VPCs that it leaves alone."""

import random
from copy import deepcopy

from .shared import replace

_MODES = ("off", "block-bidirectional", "block-ingress")
_EXCLUSIONS = ("allow-bidirectional", "allow-egress")


def extend(_app, _secret):
    """ministack does not have it. Recorded: no packet passes an internet gateway here.

    EC2 API Reference, VpcBlockPublicAccessOptions and VpcBlockPublicAccessExclusion.
    """
    from ministack.core.responses import AccountRegionScopedDict, get_account_id, get_region
    from ministack.services import ec2

    settings = AccountRegionScopedDict()
    exclusions = AccountRegionScopedDict()

    def refused(name, value, allowed):
        return ec2._error("InvalidParameterValue", f"Value ({value}) for parameter {name} is invalid. Allowed: {', '.join(allowed)}", 400)

    def options():
        mode = settings.get("mode", "off")
        state = "update-complete" if "mode" in settings else "default-state"
        return (
            f"<vpcBlockPublicAccessOptions><awsAccountId>{get_account_id()}</awsAccountId><awsRegion>{get_region()}</awsRegion><state>{state}</state>"
            f"<internetGatewayBlockMode>{mode}</internetGatewayBlockMode><managedBy>account</managedBy>"
            "<exclusionsAllowed>allowed</exclusionsAllowed></vpcBlockPublicAccessOptions>"
        )

    def describe_options(_params):
        return ec2._xml(200, "DescribeVpcBlockPublicAccessOptionsResponse", options())

    def modify_options(params):
        mode = ec2._p(params, "InternetGatewayBlockMode")
        if mode not in _MODES:
            return refused("InternetGatewayBlockMode", mode, _MODES)
        settings["mode"] = mode
        return ec2._xml(200, "ModifyVpcBlockPublicAccessOptionsResponse", options())

    def told(id_, exclusion):
        arn = f"arn:aws:ec2:{get_region()}:{get_account_id()}:vpc/{exclusion['VpcId']}"
        return (
            f"<exclusionId>{id_}</exclusionId><internetGatewayExclusionMode>{exclusion['Mode']}</internetGatewayExclusionMode>"
            f"<resourceArn>{arn}</resourceArn><state>create-complete</state>"
        )

    def create_exclusion(params):
        vpc, mode = ec2._p(params, "VpcId"), ec2._p(params, "InternetGatewayExclusionMode")
        if vpc not in ec2._vpcs:
            return ec2._error("InvalidVpcID.NotFound", f"The vpc ID '{vpc}' does not exist", 400)
        if mode not in _EXCLUSIONS:
            return refused("InternetGatewayExclusionMode", mode, _EXCLUSIONS)
        id_ = "vpcbpa-exclude-" + "".join(random.choices("0123456789abcdef", k=17))
        exclusions[id_] = {"VpcId": vpc, "Mode": mode}
        inner = f"<vpcBlockPublicAccessExclusion>{told(id_, exclusions[id_])}</vpcBlockPublicAccessExclusion>"
        return ec2._xml(200, "CreateVpcBlockPublicAccessExclusionResponse", inner)

    def describe_exclusions(_params):
        items = "".join(f"<item>{told(id_, exclusions[id_])}</item>" for id_ in exclusions)
        inner = f"<vpcBlockPublicAccessExclusionSet>{items}</vpcBlockPublicAccessExclusionSet>"
        return ec2._xml(200, "DescribeVpcBlockPublicAccessExclusionsResponse", inner)

    def with_state(original):
        return lambda: {**original(), "block_public_access": deepcopy(settings), "block_public_access_exclusions": deepcopy(exclusions)}

    def from_state(original):
        def load(data):
            answer = original(data)
            for name, store in (("block_public_access", settings), ("block_public_access_exclusions", exclusions)):
                ec2._restore_regional_store(store, (data or {}).get(name, {}))
            return answer

        return load

    replace(ec2, "get_state", with_state)
    replace(ec2, "load_persisted_state", from_state)
    ec2._ACTION_MAP.update(
        DescribeVpcBlockPublicAccessOptions=describe_options, ModifyVpcBlockPublicAccessOptions=modify_options,
        CreateVpcBlockPublicAccessExclusion=create_exclusion, DescribeVpcBlockPublicAccessExclusions=describe_exclusions,
    )
