"""Systems Manager's public parameters with the releases of EKS's AMIs."""

import json
import os

from .authorization import CALLS
from .shared import replace


def extend(_app, _secret):
    """Serves the parameters in FLEET_PUBLIC_PARAMETERS (JSON, by name) to every account, by ARNs that name none, as AWS's.

    GetParameters asks for the right on each parameter; those of AWS have no account in their ARNs (Systems Manager User Guide,
    "Discovering public parameters").
    """
    from ministack.core.responses import get_region
    from ministack.services import ssm

    values = json.loads(os.environ["FLEET_PUBLIC_PARAMETERS"])

    def public(original):
        def parameter(name):
            if name not in values:
                return original(name)
            return {
                "Name": name, "Type": "String", "Value": values[name], "Version": 1, "DataType": "text",
                "LastModifiedDate": 1793491200, "ARN": f"arn:aws:ssm:{get_region()}::parameter{name}",
            }

        return parameter

    def named(call):
        names = call.member("Names") or call.member("Name")
        names = [names] if isinstance(names, str) else names
        if isinstance(names, list) and names and all(isinstance(name, str) for name in names):
            owner = {name: "" if name.startswith("/aws/service/") else call.account for name in names}
            call.resources = [f"arn:aws:ssm:{call.region}:{owner[name]}:parameter/{name.lstrip('/')}" for name in names]

    replace(ssm, "_public_parameter", public)
    CALLS["ssm"] = named
