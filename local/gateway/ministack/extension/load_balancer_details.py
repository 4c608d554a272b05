"""What the AWS Load Balancer Controller sends to and reads from Elastic Load Balancing beyond what ministack has."""

import itertools

from .shared import replace

# States of targets by target group: `{"<address>:<port>": (state, reason)}`, as the gateway's health checks found them.
_health = {}


def extend(_app, _secret):
    """Subnet mappings, zones, protocol versions, forwarding to several target groups, the health of targets, and reservations of capacity.

    ELB API Reference 2015-12-01; what the controller compares: its pkg/equality/elbv2 and pkg/deploy/elbv2.
    """
    from ministack.services import alb, ec2

    value, calls = alb._p, alb._ACTION_MAP
    originals = dict(calls)

    def numbered(params, prefix):
        return itertools.takewhile(lambda at: any(name.startswith(f"{prefix}.member.{at}.") for name in params), itertools.count(1))

    def mapped(original):
        def create(params):
            named = [value(params, f"SubnetMappings.member.{at}.SubnetId") for at in numbered(params, "SubnetMappings")]
            if named:
                params = {**params, **{f"Subnets.member.{at}": [subnet] for at, subnet in enumerate(named, 1)}}
            return original(params)

        return create

    def zones(original):
        def xml(balancer):
            # ministack has the first zone of the region for all subnets.
            text = original(balancer)
            for subnet in balancer["Subnets"]:
                known = (ec2._subnets.get(subnet) or {}).get("AvailabilityZone", f"{alb.get_region()}a")
                text = text.replace(f"<ZoneName>{alb.get_region()}a</ZoneName><SubnetId>{subnet}</SubnetId>",
                                    f"<ZoneName>{known}</ZoneName><SubnetId>{subnet}</SubnetId>")
            return text

        return xml

    def forwarding(original):
        def parse(params, prefix="DefaultActions"):
            actions = original(params, prefix)
            for at, action in enumerate(actions, 1):
                base = f"{prefix}.member.{at}.ForwardConfig"
                groups = [
                    {"TargetGroupArn": value(params, f"{base}.TargetGroups.member.{group}.TargetGroupArn"),
                     "Weight": value(params, f"{base}.TargetGroups.member.{group}.Weight") or "1"}
                    for group in numbered(params, f"{base}.TargetGroups")
                ]
                if action["Type"] != "forward":
                    continue
                groups = groups or [{"TargetGroupArn": action.get("TargetGroupArn", ""), "Weight": "1"}]
                sticky = value(params, f"{base}.TargetGroupStickinessConfig.Enabled") or "false"
                action["ForwardConfig"] = {"TargetGroups": groups, "Sticky": sticky}
                # AWS names the group itself too where there is one.
                if len(groups) == 1:
                    action["TargetGroupArn"] = groups[0]["TargetGroupArn"]
            return actions

        return parse

    def action_xml(original):
        def xml(action):
            forward = action.get("ForwardConfig")
            if not forward:
                return original(action)
            groups = "".join(
                f"<member><TargetGroupArn>{group['TargetGroupArn']}</TargetGroupArn><Weight>{group['Weight']}</Weight></member>"
                for group in forward["TargetGroups"]
            )
            return original(action).removesuffix("</member>") + (
                f"<ForwardConfig><TargetGroups>{groups}</TargetGroups><TargetGroupStickinessConfig><Enabled>{forward['Sticky']}</Enabled>"
                "</TargetGroupStickinessConfig></ForwardConfig></member>"
            )

        return xml

    def in_use():
        """Notes which load balancers use which target groups: by the rules of their listeners too, not by default actions alone."""
        for group in alb._tgs.values():
            group["LoadBalancerArns"] = []
        for rule in alb._rules.values():
            balancer = (alb._listeners.get(rule["ListenerArn"]) or {}).get("LoadBalancerArn")
            for action in rule["Actions"]:
                named = [each["TargetGroupArn"] for each in action.get("ForwardConfig", {}).get("TargetGroups", ())]
                for group in filter(None, (alb._tgs.get(arn) for arn in named)):
                    if balancer and balancer not in group["LoadBalancerArns"]:
                        group["LoadBalancerArns"].append(balancer)

    def noting(original):
        def call(params):
            answer = original(params)
            in_use()
            return answer

        return call

    def create_group(params):
        answer = originals["CreateTargetGroup"](params)
        if answer[0] == 200:
            group = next(each for each in alb._tgs.values() if each["TargetGroupName"] == value(params, "Name"))
            if group["Protocol"] in ("HTTP", "HTTPS"):
                group["ProtocolVersion"] = value(params, "ProtocolVersion") or "HTTP1"
            return alb._xml(200, "CreateTargetGroup", f"<TargetGroups>{alb._tg_xml(group)}</TargetGroups>")
        return answer

    def group_xml(original):
        def xml(group):
            version = f"<ProtocolVersion>{group['ProtocolVersion']}</ProtocolVersion>" if "ProtocolVersion" in group else ""
            return original(group).removesuffix("</member>") + f"{version}<IpAddressType>ipv4</IpAddressType></member>"

        return xml

    def asked(params):
        return {(each["Id"], each.get("Port")) for each in alb._parse_targets_param(params)}

    def register(params):
        """A target is an address with a port: the same address may be there with another."""
        arn = value(params, "TargetGroupArn")
        group = alb._tgs.get(arn)
        if not group:
            return originals["RegisterTargets"](params)
        known = {(each["Id"], each["Port"]) for each in alb._targets.setdefault(arn, [])}
        for id_, port in sorted((id_, port or group["Port"]) for id_, port in asked(params)):
            if (id_, port) not in known:
                alb._targets[arn].append({"Id": id_, "Port": port})
        return alb._empty("RegisterTargets")

    def deregister(params):
        arn = value(params, "TargetGroupArn")
        if arn not in alb._tgs:
            return originals["DeregisterTargets"](params)
        gone = asked(params)
        alb._targets[arn] = [
            each for each in alb._targets.get(arn, []) if not {(each["Id"], each["Port"]), (each["Id"], None)} & gone
        ]
        return alb._empty("DeregisterTargets")

    def health(params):
        arn = value(params, "TargetGroupArn")
        group = alb._tgs.get(arn)
        if not group:
            return originals["DescribeTargetHealth"](params)
        wanted = asked(params)
        listed = [
            each for each in alb._targets.get(arn, []) if not wanted or {(each["Id"], each["Port"]), (each["Id"], None)} & wanted
        ]
        # API Reference, TargetHealth: a target group that no listener uses has no health checks.
        unused = ("unused", "Target.NotInUse") if not group["LoadBalancerArns"] else ("initial", "Elb.RegistrationInProgress")
        found = "".join(
            f"<member><Target><Id>{each['Id']}</Id><Port>{each['Port']}</Port></Target><HealthCheckPort>{each['Port']}</HealthCheckPort>"
            f"<TargetHealth><State>{state}</State>{f'<Reason>{reason}</Reason>' if reason else ''}</TargetHealth></member>"
            for each in listed
            for state, reason in [_health.get(arn, {}).get(f"{each['Id']}:{each['Port']}", unused) if group["LoadBalancerArns"] else unused]
        )
        return alb._xml(200, "DescribeTargetHealth", f"<TargetHealthDescriptions>{found}</TargetHealthDescriptions>")

    def keep_health(params):
        """What health checks found: told by the gateway, which makes them, by a call of its own. Answers nothing of a target that is gone."""
        _health[value(params, "TargetGroupArn")] = {
            value(params, f"Targets.member.{at}.Id"): (
                value(params, f"Targets.member.{at}.State"), value(params, f"Targets.member.{at}.Reason"))
            for at in numbered(params, "Targets")
        }
        return alb._empty("KeepTargetHealth")

    def capacity(params):
        if value(params, "LoadBalancerArn") not in alb._lbs:
            return alb._error("LoadBalancerNotFound", f"Load balancer '{value(params, 'LoadBalancerArn')}' not found.")
        return alb._xml(200, "DescribeCapacityReservation", "<DecreaseRequestsRemaining>2</DecreaseRequestsRemaining><CapacityReservationState/>")

    def restored(original):
        def load(data):
            _health.update(data.get("fleet_health", {}))
            return original(data)

        return load

    replace(alb, "get_state", lambda original: lambda: {**original(), "fleet_health": dict(_health)})
    replace(alb, "load_persisted_state", restored)
    replace(alb, "_lb_xml", zones)
    replace(alb, "_parse_actions", forwarding)
    replace(alb, "_action_xml", action_xml)
    replace(alb, "_tg_xml", group_xml)
    calls.update(
        CreateLoadBalancer=mapped(originals["CreateLoadBalancer"]), CreateTargetGroup=create_group, RegisterTargets=register,
        DeregisterTargets=deregister, DescribeTargetHealth=health, KeepTargetHealth=keep_health, DescribeCapacityReservation=capacity,
    )
    for action in ("CreateListener", "ModifyListener", "DeleteListener", "CreateRule", "ModifyRule", "DeleteRule"):
        calls[action] = noting(originals[action])
