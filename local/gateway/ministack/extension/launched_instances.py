"""Instances that a launch template or a fleet started: what they are made of, and how they end."""

import re
import time

from .network_interfaces import add
from .node_instances import prefixes
from .shared import replace
from .volume_keys import key_of

# Marks those that the gateway ends: a node's processes go first.
LAUNCHED = "_fleet_launched"
_PODS, _SPOT = "_fleet_pods", "_fleet_spot_request"
_STATES = {"running": 16, "shutting-down": 32, "terminated": 48}


def start(ec2, wanted):
    """Starts one as `launches.py` wants it, and gives its record: with its interface, in its subnet, and with its tags from the first moment."""
    [instance] = ec2._launch_instances_internal(
        image_id=wanted["image"], instance_type=wanted["type"], subnet_id=wanted["subnet"], count=1, user_data=wanted["user_data"],
        sg_ids=wanted["groups"], iam_profile=wanted["profile"],
    )
    id_, zone, now = instance["InstanceId"], ec2._subnets[wanted["subnet"]]["AvailabilityZone"], ec2._now_ts()
    interface = add(ec2, wanted["subnet"], wanted["groups"], Description="", InterfaceType="interface")
    eni = ec2._network_interfaces[interface]
    eni["Attachment"].update({"InstanceId": id_, "DeviceIndex": 0, "Status": "attached"})
    instance.update({
        LAUNCHED: interface, "PublicIpAddress": "", "PublicDnsName": "", "Hypervisor": "nitro",
        "Placement": {"AvailabilityZone": zone, "Tenancy": "default"},
    })
    if wanted["spot"]:
        instance[_SPOT] = id_.replace("i-", "sir-", 1)
    _address(ec2, instance, eni["PrivateIpAddress"])
    for mapping, volume in ((each, ec2._volumes[each["Ebs"]["VolumeId"]]) for each in instance["BlockDeviceMappings"]):
        asked = next((each.get("Ebs", {}) for each in wanted["devices"] if each["DeviceName"] == mapping["DeviceName"]), {})
        volume.update({
            "AvailabilityZone": zone, "CreateTime": now, "Size": asked.get("VolumeSize", volume["Size"]),
            "VolumeType": asked.get("VolumeType", volume["VolumeType"]), "Encrypted": asked.get("Encrypted", False), "KmsKeyId": key_of(asked),
        })
        _tag(ec2, volume["VolumeId"], wanted["tags"].get("volume"))
    _tag(ec2, interface, wanted["tags"].get("network-interface"))
    _tag(ec2, id_, wanted["tags"].get("instance"))
    return instance


def _tag(ec2, id_, tags):
    if tags:
        ec2._tags[id_] = [{"Key": key, "Value": value} for key, value in tags.items()]


def _address(ec2, instance, address):
    ec2._network_interfaces[instance[LAUNCHED]]["PrivateIpAddress"] = address
    instance.update({"PrivateIpAddress": address, "PrivateDnsName": f"ip-{address.replace('.', '-')}.ec2.internal"})


def _become(instance, state):
    instance["State"] = {"Code": _STATES[state], "Name": state}


def extend(_app, _secret):
    """They shut down when somebody terminates them, and have ended when the gateway says so, by a call of its own that AWS does not have.

    By the same call it says which address an instance has that is a node: here a network namespace, whose address is the instance's own.
    """
    from ministack.services import ec2

    calls = ec2._ACTION_MAP
    originals = dict(calls)

    def terminate(params):
        asked = ec2._parse_member_list(params, "InstanceId")
        absent = next((id_ for id_ in asked if id_ not in ec2._instances), None)
        if absent:
            return ec2._error("InvalidInstanceID.NotFound", f"The instance ID '{absent}' does not exist", 400)
        if not any(LAUNCHED in ec2._instances[id_] for id_ in asked):
            return originals["TerminateInstances"](params)
        items = ""
        for instance in (ec2._instances[id_] for id_ in asked):
            before = instance["State"]
            if LAUNCHED not in instance:
                originals["TerminateInstances"]({"InstanceId.1": [instance["InstanceId"]]})
            elif before["Name"] != "terminated":
                _become(instance, "shutting-down")
            items += (
                f"<item><instanceId>{instance['InstanceId']}</instanceId>{_state('currentState', instance['State'])}"
                f"{_state('previousState', before)}</item>"
            )
        return ec2._xml(200, "TerminateInstancesResponse", f"<instancesSet>{items}</instancesSet>")

    def keep(params):
        """The address of one that is a node, with the block of its pods, or the end of one that shut down."""
        instance = ec2._instances.get(ec2._p(params, "InstanceId"))
        if instance and ec2._p(params, "State") == "terminated":
            end(instance)
        elif instance:
            _address(ec2, instance, ec2._p(params, "PrivateIpAddress"))
            instance[_PODS] = ec2._p(params, "Pods")
        return ec2._xml(200, "KeepInstanceResponse", "<return>true</return>")

    def end(instance):
        """Its interface and its volumes go with it: both are made with DeleteOnTermination."""
        _become(instance, "terminated")
        instance["_terminated_at"] = time.time()
        interface = instance.pop(LAUNCHED, None)
        ec2._network_interfaces.pop(interface, None)
        volumes = [mapping["Ebs"]["VolumeId"] for mapping in instance["BlockDeviceMappings"]]
        for volume in volumes:
            ec2._volumes.pop(volume, None)
        for id_ in (interface, *volumes):
            ec2._tags.pop(id_, None)

    def as_aws_says(original):
        def xml(instance):
            told = original(instance)
            eni = ec2._network_interfaces.get(instance.get(LAUNCHED))
            if not eni:
                return told
            zone_id = ec2._az_id_for_zone_name(instance["Placement"]["AvailabilityZone"])
            spot = (
                f"<spotInstanceRequestId>{instance[_SPOT]}</spotInstanceRequestId><instanceLifecycle>spot</instanceLifecycle>"
                if _SPOT in instance else ""
            )
            told = told.replace("<tenancy>", f"<availabilityZoneId>{zone_id}</availabilityZoneId><tenancy>", 1)
            return re.sub(r"</item>\s*$", f"{spot}<networkInterfaceSet>{interface(instance, eni)}</networkInterfaceSet></item>", told)

        return xml

    def interface(instance, eni):
        pods = prefixes(instance[_PODS]) if _PODS in instance else ""
        return re.sub(r"</item>\s*$", f"{pods}</item>", ec2._eni_fields_xml(eni))

    def status(params):
        """Of those that run well nothing is told to who asks for impaired ones, or for events."""
        filters = ec2._parse_filters(params)
        healthy = {"instance-status.status": "ok", "system-status.status": "ok"}
        if all(healthy.get(name) in values for name, values in filters.items()):
            return originals["DescribeInstanceStatus"](params)
        return ec2._xml(200, "DescribeInstanceStatusResponse", "<instanceStatusSet/>")

    def attribute(params):
        instance = ec2._instances.get(ec2._p(params, "InstanceId"))
        if not instance or ec2._p(params, "Attribute") != "userData":
            return originals["DescribeInstanceAttribute"](params)
        data = f"<userData><value>{instance['UserData']}</value></userData>"
        return ec2._xml(200, "DescribeInstanceAttributeResponse", f"<instanceId>{instance['InstanceId']}</instanceId>{data}")

    replace(ec2, "_instance_xml", as_aws_says)
    calls.update(TerminateInstances=terminate, KeepInstance=keep, DescribeInstanceStatus=status, DescribeInstanceAttribute=attribute)


def _state(tag, state):
    return f"<{tag}><code>{state['Code']}</code><name>{state['Name']}</name></{tag}>"
