"""Classic load balancers, which ministack lacks: those that Kubernetes makes for a Service of type LoadBalancer."""

import copy
import random
from xml.sax.saxutils import escape

from .authorization import TAGS
from .load_balancer_interfaces import attach, detach, missing
from .load_balancers import CLASSIC_VERSION
from .shared import replace


def extend(_app, _secret):
    """Serves making, reading and deleting them (ELB API Reference 2012-06-01), and refuses what else the same version has. After load_balancers."""
    from ministack.core.responses import AccountRegionScopedDict
    from ministack.services import alb, ec2

    value, members, calls = alb._p, alb._parse_member_list, alb._ACTION_MAP
    balancers = AccountRegionScopedDict()

    def answered(action, inner=""):
        status, headers, body = alb._xml(200, action, inner)
        return status, headers, body.replace(b"/doc/2015-12-01/", f"/doc/{CLASSIC_VERSION}/".encode())

    def listed(tag, items):
        return f"<{tag}>" + "".join(f"<member>{item}</member>" for item in items) + f"</{tag}>"

    def create(params):
        name, scheme = value(params, "LoadBalancerName"), value(params, "Scheme", "internet-facing")
        subnets, groups = members(params, "Subnets"), members(params, "SecurityGroups")
        problem = missing(ec2, subnets, groups)
        if problem:
            return alb._error(*problem)
        if name in balancers:
            return alb._error("DuplicateLoadBalancerName", f"Load Balancer named '{name}' already exists and it is configured with different "
                              "parameters")
        host = f"{name}-{random.randrange(10**9)}.{ec2.get_region()}.elb.amazonaws.com"
        balancers[name] = {
            "Name": name, "Host": host, "Scheme": scheme, "Subnets": subnets, "Groups": groups, "VpcId": ec2._subnets[subnets[0]]["VpcId"],
            "Tags": alb._parse_tags(params),
        }
        attach(ec2, name, subnets, groups, scheme == "internet-facing")
        return answered("CreateLoadBalancer", f"<DNSName>{host}</DNSName>")

    def delete(params):
        # One that is not there is deleted already.
        if balancers.pop(value(params, "LoadBalancerName"), None):
            detach(ec2, value(params, "LoadBalancerName"))
        return answered("DeleteLoadBalancer")

    def described(action, tag, member):
        """A call that tells of those that it names, of all where it names none."""

        def describe(params):
            names = members(params, "LoadBalancerNames")
            for absent in (name for name in names if name not in balancers):
                return alb._error("LoadBalancerNotFound", f"There is no ACTIVE Load Balancer named '{absent}'")
            return answered(action, listed(tag, (member(one) for name, one in balancers.items() if not names or name in names)))

        return describe

    def facts(one):
        return (
            f"<LoadBalancerName>{one['Name']}</LoadBalancerName><DNSName>{one['Host']}</DNSName><VPCId>{one['VpcId']}</VPCId>"
            f"<Scheme>{one['Scheme']}</Scheme>" + listed("Subnets", one["Subnets"]) + listed("SecurityGroups", one["Groups"])
        )

    def tags(one):
        items = (f"<Key>{escape(tag['Key'])}</Key><Value>{escape(tag['Value'])}</Value>" for tag in one["Tags"])
        return f"<LoadBalancerName>{one['Name']}</LoadBalancerName>" + listed("Tags", items)

    served = {
        "CreateLoadBalancer": create, "DeleteLoadBalancer": delete,
        "DescribeLoadBalancers": described("DescribeLoadBalancers", "LoadBalancerDescriptions", facts),
        "DescribeTags": described("DescribeTags", "TagDescriptions", tags),
    }

    def by_version(action, original):
        def call(params):
            if value(params, "Version") != CLASSIC_VERSION:
                return original(params)
            if action not in served:
                return alb._error("InvalidAction", f"the embedded cloud does not serve {action} of classic load balancers")
            return served[action](params)

        return call

    def tags_of(others):
        def of(arn):
            kind, _, name = arn.split(":", 5)[-1].partition("/")
            one = balancers.get(name) if kind == "loadbalancer" else None
            return {tag["Key"]: tag["Value"] for tag in one["Tags"]} if one else others(arn)

        return of

    def restored(original):
        def load(data):
            balancers.update(data.get("fleet_classic", {}))
            return original(data)

        return load

    calls.update({action: by_version(action, original) for action, original in calls.items()})
    TAGS["elasticloadbalancing"] = tags_of(TAGS["elasticloadbalancing"])
    replace(alb, "get_state", lambda original: lambda: {**original(), "fleet_classic": copy.deepcopy(balancers)})
    replace(alb, "load_persisted_state", restored)
