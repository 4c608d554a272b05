"""KMS keys of EBS volumes: the account's default, and whoever may not use a key gets neither volume nor instance."""

import contextvars
import re
from copy import deepcopy

from .accounts import within
from .shared import replace

_OF_AWS = "alias/aws/ebs"
# EBS User Guide, "Requirements for Amazon EBS encryption" (permissions of whoever creates and attaches encrypted volumes).
_CALLS = ("DescribeKey", "GenerateDataKeyWithoutPlaintext", "ReEncryptFrom", "Decrypt", "CreateGrant")
# What starts the instances of node groups. Its own policy has no rights in KMS (Amazon EC2 Auto Scaling User Guide, "Required AWS KMS key policy …").
_AUTO_SCALING = "role/aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling"
# The words are EC2's (terraform-provider-aws issue 39904; AWS re:Post, "kms-iam-ec2-permission").
_UNUSABLE = ("Client.InvalidKMSKey.InvalidState", "The KMS key provided is in an incorrect state")
_REFUSED = ("Client.InternalError", "Client error on launch")

_caller = contextvars.ContextVar("fleet_caller_of_ec2", default="")
# By account and region: `key` and `on`.
_defaults = None


def keys_of(devices):
    """The keys of volumes with which something starts, of its block devices: without any, of the root volume of the image."""
    return list(dict.fromkeys(key for key in (key_of(each.get("Ebs", {})) for each in devices or [{}]) if key))


def key_of(ebs):
    """The key of a volume; None for AWS's own, which asks callers of its account for nothing."""
    named = ebs.get("KmsKeyId") or (_defaults.get("key") if ebs.get("Encrypted") or _defaults.get("on") else None)
    return None if not named or named.endswith(_OF_AWS) else named


def problem(named, allows=None):
    """Why EC2 can't use a key, as code and message; None where it can. `allows` decides for one call, the caller's own rights without it."""
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id, get_region
    from ministack.services import kms

    region = get_region()
    with within(named if named.startswith("arn:") else None):
        key = deepcopy(kms._resolve_key(named))
    if key is None or key["KeyState"] != "Enabled" or key["KeySpec"] != "SYMMETRIC_DEFAULT" or key["Arn"].split(":")[3] != region:
        return _UNUSABLE
    context = {"kms:ViaService": f"ec2.{region}.amazonaws.com", "kms:CallerAccount": get_account_id()}
    for call in _CALLS:
        own = {**context, **({"kms:GrantIsForAWSResource": "true"} if call == "CreateGrant" else {})}
        if allows:
            if not allows(key["Arn"], call, own):
                return _REFUSED
        elif evaluator.enforce(_caller.get(), f"kms:{call}", "kms", region, key["Arn"], own):
            return _REFUSED
    return None


def admits_auto_scaling(arn, call, context):
    """Whether a key's policy names the role of Auto Scaling, or a grant does: leaving access to IAM is not enough."""
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import get_account_id, get_region
    from ministack.services import kms

    account = get_account_id()
    role = f"arn:aws:iam::{account}:{_AUTO_SCALING}"
    granted = (each for each in kms._grants.values() if each["KeyId"] == arn and each["GranteePrincipal"] == role)
    if any(call in each["Operations"] or call == "DescribeKey" for each in granted):
        return True
    found = evaluator._resource_policy("kms", arn)
    ctx = evaluator.EvalContext(
        principal_arn=role, principal_type="AssumedRole", principal_account=account, action=f"kms:{call}", resource_arn=arn, region=get_region(),
        service_context={name.lower(): value for name, value in context.items()})
    return found is not None and evaluator.evaluate_resource_policy(found[0], ctx, named_only=True).decision == "Allow"


def check_launch(instance, devices):
    """An instance whose volumes have a key that its caller may not use shuts down at once."""
    found = next(filter(None, map(problem, keys_of(devices))), None)
    if found:
        instance.update({"State": {"Code": 32, "Name": "shutting-down"}, "_fleet_state_reason": list(found)})


def extend(_app, _secret):
    """ministack has no default key, forgets keys of templates and volumes, and lets everyone use every key.

    EC2 checks a key after its answer, so a call succeeds and the volume disappears (EC2 API Reference, CreateVolume, `KmsKeyId`;
    velero-io/velero-plugin-for-aws issue 25), an instance terminates, and an attachment fails (KMS Developer Guide, "How unusable KMS keys affect data keys").
    """
    global _defaults
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import AccountRegionScopedDict
    from ministack.services import ec2

    _defaults = AccountRegionScopedDict()
    calls = ec2._ACTION_MAP
    originals = dict(calls)

    def remember(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            if service == "ec2":
                _caller.set(access_key_id)
            return original(access_key_id, iam_action, service, region, resource_arn, service_context)

        return check

    def told(operation, inner):
        return ec2._xml(200, f"{operation}Response", inner)

    def default_key(operation, change=lambda params: None):
        def call(params):
            change(params)
            return told(operation, f"<kmsKeyId>{_defaults.get('key', _OF_AWS)}</kmsKeyId>")

        return call

    def by_default(operation, change=lambda: None):
        def call(_params):
            change()
            return told(operation, f"<ebsEncryptionByDefault>{str(_defaults.get('on', False)).lower()}</ebsEncryptionByDefault>")

        return call

    def parsed(original):
        def parse(params, prefix="LaunchTemplateData"):
            data = original(params, prefix)
            for at, device in enumerate(data.get("BlockDeviceMappings", ()), 1):
                key = ec2._p(params, f"{prefix}.BlockDeviceMapping.{at}.Ebs.KmsKeyId")
                if key:
                    device.setdefault("Ebs", {})["KmsKeyId"] = key
            return data

        return parse

    def data_xml(original):
        def xml(data):
            devices = iter(data.get("BlockDeviceMappings", ()))

            def with_key(found):
                key = next(each for each in devices if "Ebs" in each)["Ebs"].get("KmsKeyId")
                return f"<kmsKeyId>{key}</kmsKeyId></ebs>" if key else found[0]

            return re.sub("</ebs>", with_key, original(data))

        return xml

    def volume_xml(original):
        return lambda volume: original(volume) + (f"<kmsKeyId>{volume['KmsKeyId']}</kmsKeyId>" if volume.get("KmsKeyId") else "")

    def instance_xml(original):
        def xml(instance):
            if "_fleet_state_reason" not in instance:
                return original(instance)
            code, message = instance["_fleet_state_reason"]
            reason = f"<stateReason><code>{code}</code><message>{code}: {message}</message></stateReason>"
            return re.sub(r"</item>\s*$", f"{reason}</item>", original(instance))

        return xml

    def create_volume(params):
        named, encrypted = ec2._p(params, "KmsKeyId"), ec2._p(params, "Encrypted").lower() == "true"
        snapshot = ec2._snapshots.get(ec2._p(params, "SnapshotId")) or {}
        if named and not encrypted:
            # EC2 API Reference, "Error codes".
            return ec2._error("InvalidParameterDependency", "The parameter KmsKeyId requires the parameter Encrypted to be set.", 400)
        key = key_of({"KmsKeyId": named or snapshot.get("KmsKeyId"), "Encrypted": encrypted or snapshot.get("Encrypted")})
        answer = originals["CreateVolume"](params)
        if answer[0] != 200:
            return answer
        id_ = re.search(rb"<volumeId>(vol-\w+)", answer[2])[1].decode()
        volume = ec2._volumes[id_]
        volume["Encrypted"] = bool(encrypted or snapshot.get("Encrypted") or _defaults.get("on"))
        volume["State"] = "creating"
        if key:
            volume["KmsKeyId"] = key
        answer = told("CreateVolume", ec2._volume_inner_xml(volume))
        volume["State"] = "available"
        if key and problem(key):
            del ec2._volumes[id_]
            ec2._tags.pop(id_, None)
        return answer

    def create_snapshot(params):
        before = set(ec2._snapshots)
        answer = originals["CreateSnapshot"](params)
        key = (ec2._volumes.get(ec2._p(params, "VolumeId")) or {}).get("KmsKeyId")
        for id_ in set(ec2._snapshots) - before if key else ():
            ec2._snapshots[id_]["KmsKeyId"] = key
        return answer

    def attach_volume(params):
        answer = originals["AttachVolume"](params)
        volume = ec2._volumes.get(ec2._p(params, "VolumeId")) or {}
        if volume.get("KmsKeyId") and problem(volume["KmsKeyId"]):
            volume.update({"Attachments": [], "State": "available"})
        return answer

    def judge(params):
        """For the gateway, EKS here: why Auto Scaling can't start instances of a launch template; empty where it can."""
        from . import launches

        _, data, _ = launches.template(ec2, params, "LaunchTemplate")
        devices = (data or {}).get("BlockDeviceMappings", [])
        found = next(filter(None, (problem(key, admits_auto_scaling) for key in keys_of(devices))), None)
        return told("JudgeVolumeKeys", f"<problem>{': '.join(found) if found else ''}</problem>")

    def with_state(original):
        return lambda: {**original(), "ebs_defaults": deepcopy(_defaults)}

    def from_state(original):
        def load(data):
            answer = original(data)
            ec2._restore_regional_store(_defaults, (data or {}).get("ebs_defaults", {}))
            return answer

        return load

    replace(evaluator, "enforce", remember)
    replace(ec2, "get_state", with_state)
    replace(ec2, "load_persisted_state", from_state)
    replace(ec2, "_parse_lt_data", parsed)
    replace(ec2, "_lt_data_xml", data_xml)
    replace(ec2, "_volume_inner_xml", volume_xml)
    replace(ec2, "_instance_xml", instance_xml)
    calls.update(
        GetEbsDefaultKmsKeyId=default_key("GetEbsDefaultKmsKeyId"),
        ModifyEbsDefaultKmsKeyId=default_key("ModifyEbsDefaultKmsKeyId", lambda params: _defaults.__setitem__("key", ec2._p(params, "KmsKeyId"))),
        ResetEbsDefaultKmsKeyId=default_key("ResetEbsDefaultKmsKeyId", lambda params: _defaults.pop("key", None)),
        GetEbsEncryptionByDefault=by_default("GetEbsEncryptionByDefault"),
        EnableEbsEncryptionByDefault=by_default("EnableEbsEncryptionByDefault", lambda: _defaults.__setitem__("on", True)),
        DisableEbsEncryptionByDefault=by_default("DisableEbsEncryptionByDefault", lambda: _defaults.pop("on", None)),
        CreateVolume=create_volume, CreateSnapshot=create_snapshot, AttachVolume=attach_volume, JudgeVolumeKeys=judge,
    )
