"""Launch templates, and the instances that they and fleets start."""

import base64
import binascii
import itertools
import uuid

from . import launch_rights
from .authorization import CALLS
from .dry_run import is_dry, would_succeed
from .instance_types import TYPES
from .launched_instances import start
from .quotas import in_force
from .volume_keys import check_launch

_SPOT_ROLE = "AWSServiceRoleForEC2Spot"
# Bytes, before they are base64 (EC2 User Guide, "Run commands when you launch an EC2 instance with user data input").
_USER_DATA = 16384
# On-Demand and Spot Instances of the Standard families, which all types here are.
_VCPU_QUOTAS = {False: ("ec2", "L-1216C47A"), True: ("ec2", "L-34B43A08")}


def numbered(params, prefix):
    """The prefixes of a list's members, `<prefix>.1` and on, as far as there are any."""
    members = (f"{prefix}.{at}" for at in itertools.count(1))
    return list(itertools.takewhile(lambda member: any(name.startswith(f"{member}.") for name in params), members))


def tags_of(ec2, params, prefix):
    """Tags by the type of resource that gets them."""
    return {
        ec2._p(params, f"{of}.ResourceType"): {ec2._p(params, f"{tag}.Key"): ec2._p(params, f"{tag}.Value") for tag in numbered(params, f"{of}.Tag")}
        for of in numbered(params, prefix)
    }


def template(ec2, params, prefix):
    """The launch template that a call names, with its data; None twice and what AWS answers where there is none."""
    id_, name = ec2._p(params, f"{prefix}.LaunchTemplateId"), ec2._p(params, f"{prefix}.LaunchTemplateName")
    found = ec2._launch_templates.get(id_) if id_ else named(ec2, name)
    if not found:
        return None, None, missing(id_, name)
    asked = ec2._p(params, f"{prefix}.Version") or "$Default"
    number = {"$Default": found["DefaultVersionNumber"], "$Latest": found["LatestVersionNumber"]}.get(asked, asked)
    data = next((version["LaunchTemplateData"] for version in found["Versions"] if str(version["VersionNumber"]) == str(number)), None)
    if data is None:
        return None, None, ("InvalidLaunchTemplateId.VersionNotFound", f"Could not find launch template version {number}")
    return found, data, None


def named(ec2, name):
    return next((each for each in ec2._launch_templates.values() if each["LaunchTemplateName"] == name), None)


def missing(id_, name):
    """EC2 API Reference, "Error codes"; the code for a name as in aws/karpenter-provider-aws, pkg/errors."""
    if id_:
        return "InvalidLaunchTemplateId.NotFound", f"The specified launch template, with template ID {id_}, does not exist."
    return "InvalidLaunchTemplateName.NotFoundException", f"The specified launch template, with template name {name}, does not exist."


def merged(one, other):
    """Tags by type, those of the second first where both have a key."""
    return {kind: {**one.get(kind, {}), **other.get(kind, {})} for kind in (*one, *other)}


def wanted(found, data, tags, **override):
    """What one instance is to be: the data of a template under what the call says."""
    interface = (data.get("NetworkInterfaces") or [{}])[0]
    of_template = {spec["ResourceType"]: {tag["Key"]: tag["Value"] for tag in spec["Tags"]} for spec in data.get("TagSpecifications", ())}
    own = {
        "image": data.get("ImageId", ""), "type": data.get("InstanceType", ""), "subnet": interface.get("SubnetId", ""),
        "groups": interface.get("Groups") or data.get("SecurityGroupIds") or [], "user_data": data.get("UserData", ""),
        "profile": data.get("IamInstanceProfile") or {}, "devices": data.get("BlockDeviceMappings", []), "spot": False, "priority": 0.0,
    }
    return {**own, **{key: value for key, value in override.items() if value}, "tags": merged(of_template, tags), "template": found}


def of_run_instances(ec2, params):
    """What RunInstances with a launch template asks for, or what AWS answers in its place."""
    found, data, refusal = template(ec2, params, "LaunchTemplate")
    if refusal:
        return None, refusal
    interface = "NetworkInterface.1"
    return wanted(
        found, data, tags_of(ec2, params, "TagSpecification"), image=ec2._p(params, "ImageId"), type=ec2._p(params, "InstanceType"),
        subnet=ec2._p(params, f"{interface}.SubnetId") or ec2._p(params, "SubnetId"), user_data=ec2._p(params, "UserData"),
        groups=ec2._parse_member_list(params, f"{interface}.SecurityGroupId") or ec2._parse_member_list(params, "SecurityGroupId"),
    ), None


def of_fleet(ec2, params):
    """What CreateFleet may start, in its order, or what AWS answers in its place."""
    tags, spot = tags_of(ec2, params, "TagSpecification"), ec2._p(params, "TargetCapacitySpecification.DefaultTargetCapacityType") == "spot"
    choices = []
    for config in numbered(params, "LaunchTemplateConfigs"):
        found, data, refusal = template(ec2, params, f"{config}.LaunchTemplateSpecification")
        if refusal:
            return None, refusal
        for at in numbered(params, f"{config}.Overrides") or [""]:
            value = lambda name, at=at: ec2._p(params, f"{at}.{name}")
            choices.append(wanted(
                found, data, tags, image=value("ImageId"), type=value("InstanceType"), subnet=value("SubnetId"), spot=spot,
                priority=float(value("Priority") or 0),
            ))
    if not choices:
        return None, ("MissingParameter", "The request must contain the parameter LaunchTemplateConfigs")
    prioritized = "prioritized" in (ec2._p(params, f"{kind}Options.AllocationStrategy") for kind in ("OnDemand", "Spot"))
    price = lambda choice: choice["priority"] if prioritized else TYPES.get(choice["type"], {}).get("price", float("inf"))
    return sorted(choices, key=price), None


def extend(_app, _secret):
    """ministack starts an instance of whatever a fleet names, in a zone of its own choice, and knows no launch template in RunInstances.

    Fleets that are not `instant`, and RunInstances without a launch template, stay ministack's.
    """
    from ministack.services import ec2, iam

    calls = ec2._ACTION_MAP
    originals = dict(calls)

    def refused(code, message):
        return ec2._error(code, message, 400)

    def profile_of(choice):
        name = choice["profile"].get("Name") or choice["profile"].get("Arn", "").rsplit("/", 1)[-1]
        return name, iam._instance_profiles.get(name)

    def refusal(choice):
        """Why EC2 does not start an instance: code and message of AWS; None where it does."""
        type_, subnet, name = TYPES.get(choice["type"]), ec2._subnets.get(choice["subnet"]), choice["type"]
        if subnet is None:
            return "InvalidSubnetID.NotFound", f"The subnet ID '{choice['subnet']}' does not exist"
        if not known_image(choice["image"]):
            return "InvalidAMIID.NotFound", f"The image id '[{choice['image']}]' does not exist"
        for group in choice["groups"]:
            if group not in ec2._security_groups:
                return "InvalidGroup.NotFound", f"The security group '{group}' does not exist"
            if ec2._security_groups[group]["VpcId"] != subnet["VpcId"]:
                return "InvalidParameter", f"Security group {group} and subnet {choice['subnet']} belong to different networks."
        profile, there = profile_of(choice)
        if profile and not there:
            return "InvalidParameterValue", f"Value ({profile}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name"
        if type_ is None:
            zone = subnet["AvailabilityZone"]
            return "InsufficientInstanceCapacity", (
                f"We currently do not have sufficient {name} capacity in the Availability Zone you requested ({zone}). "
                "Our system will be working on provisioning additional capacity."
            )
        if choice["spot"] and _SPOT_ROLE not in iam._roles:
            # Who may make the role is not asked: Karpenter's role here may not.
            return "AuthFailure.ServiceLinkedRoleCreationNotPermitted", (
                "The provided credentials do not have permission to create the service-linked role for EC2 Spot Instances."
            )
        limit = in_force(*_VCPU_QUOTAS[choice["spot"]])
        if processors(choice["spot"]) + type_["vcpus"] > limit:
            # The words are EC2's (aws/aws-parallelcluster#1115, scrapoxy/scrapoxy#202).
            if choice["spot"]:
                return "MaxSpotInstanceCountExceeded", "Max spot instance count exceeded"
            return "VcpuLimitExceeded", (
                f"You have requested more vCPU capacity than your current vCPU limit of {limit:.0f} allows for the instance bucket that the "
                "specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/ec2-request to request an adjustment to this limit."
            )
        return None

    def known_image(id_):
        return ec2._registered_image(id_) is not None or any(stub[0] == id_ for stub in ec2._STUB_AMIS)

    def processors(spot):
        """Of the instances that run, Spot or On-Demand (EC2 User Guide, "Amazon EC2 instance type quotas"); nodes of node groups are none of these."""
        running = (
            each for each in ec2._instances.values()
            if each["State"]["Name"] in ("pending", "running") and ("_fleet_spot_request" in each) == spot
        )
        return sum(TYPES.get(each["InstanceType"], {}).get("vcpus", 0) for each in running)

    def started(choice):
        _, there = profile_of(choice)
        profile = {"Arn": there["Arn"], "Id": there["InstanceProfileId"]} if there else None
        instance = start(ec2, {**choice, "profile": profile})
        check_launch(instance, choice["devices"])
        return instance

    def run_instances(params):
        if not numbered(params, "LaunchTemplate"):
            return would_succeed(ec2) if is_dry(ec2, params) else originals["RunInstances"](params)
        choice, problem = of_run_instances(ec2, params)
        problem = problem or refusal(choice)
        if problem:
            return refused(*problem)
        if is_dry(ec2, params):
            return would_succeed(ec2)
        items = "".join(ec2._instance_xml(started(choice)) for _ in range(int(ec2._p(params, "MinCount") or "1")))
        reservation = f"<reservationId>r-{uuid.uuid4().hex[:17]}</reservationId><ownerId>{ec2.get_account_id()}</ownerId><groupSet/>"
        return ec2._xml(200, "RunInstancesResponse", f"{reservation}<instancesSet>{items}</instancesSet>")

    def create_fleet(params):
        if ec2._p(params, "Type") != "instant":
            return would_succeed(ec2) if is_dry(ec2, params) else originals["CreateFleet"](params)
        choices, problem = of_fleet(ec2, params)
        if problem:
            return refused(*problem)
        if is_dry(ec2, params):
            return would_succeed(ec2)
        fleet, failed, made = f"fleet-{uuid.uuid4()}", {}, {}
        for _ in range(int(ec2._p(params, "TargetCapacitySpecification.TotalTargetCapacity") or "1")):
            for at, choice in enumerate(choices):
                problem = refusal(choice)
                if problem is None:
                    made.setdefault(at, []).append(started(choice)["InstanceId"])
                    break
                failed[at] = problem
        ec2._tags[fleet] = [{"Key": key, "Value": value} for key, value in choices[0]["tags"].get("fleet", {}).items()]
        instances = "".join(
            f"<item>{told(choices[at])}<instanceIds>{''.join(f'<item>{id_}</item>' for id_ in ids)}</instanceIds>"
            f"<instanceType>{choices[at]['type']}</instanceType></item>"
            for at, ids in made.items()
        )
        errors = "".join(
            f"<item>{told(choices[at])}<errorCode>{code}</errorCode><errorMessage>{message}</errorMessage></item>"
            for at, (code, message) in failed.items()
        )
        answer = f"<fleetId>{fleet}</fleetId><errorSet>{errors}</errorSet><fleetInstanceSet>{instances}</fleetInstanceSet>"
        return ec2._xml(200, "CreateFleetResponse", answer)

    def told(choice):
        """What a fleet chose, as its answer says it."""
        found = choice["template"]
        zone = (ec2._subnets.get(choice["subnet"]) or {}).get("AvailabilityZone", "")
        return (
            "<launchTemplateAndOverrides><launchTemplateSpecification>"
            f"<launchTemplateId>{found['LaunchTemplateId']}</launchTemplateId><version>{found['LatestVersionNumber']}</version>"
            f"</launchTemplateSpecification><overrides><instanceType>{choice['type']}</instanceType><subnetId>{choice['subnet']}</subnetId>"
            f"<availabilityZone>{zone}</availabilityZone><imageId>{choice['image']}</imageId></overrides></launchTemplateAndOverrides>"
            f"<lifecycle>{'spot' if choice['spot'] else 'on-demand'}</lifecycle>"
        )

    def create_template(params):
        try:
            data = base64.b64decode(ec2._p(params, "LaunchTemplateData.UserData"), validate=True)
        except binascii.Error:
            return refused("InvalidUserData.Malformed", "Invalid BASE64 encoding of user data.")
        if len(data) > _USER_DATA:
            return refused("InvalidUserData.Malformed", f"User data is limited to {_USER_DATA} bytes")
        return originals["CreateLaunchTemplate"](params)

    def describe_templates(params):
        for name in ec2._parse_member_list(params, "LaunchTemplateName"):
            if not named(ec2, name):
                return refused("InvalidLaunchTemplateName.NotFoundException", "At least one of the launch templates specified in the request does not exist.")
        for id_ in ec2._parse_member_list(params, "LaunchTemplateId"):
            if id_ not in ec2._launch_templates:
                return refused(*missing(id_, ""))
        return originals["DescribeLaunchTemplates"](params)

    calls.update(
        RunInstances=run_instances, CreateFleet=create_fleet, CreateLaunchTemplate=create_template, DescribeLaunchTemplates=describe_templates,
    )
    CALLS["ec2"] = launch_rights.judged(CALLS["ec2"], profile_of)
