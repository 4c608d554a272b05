"""Systems Manager's public parameters with the releases of EKS's AMIs."""

import contextvars
import json
import os

from .shared import replace

# The parameters that the running call names beyond the first.
_more = contextvars.ContextVar("fleet_parameters", default=())


def extend_ssm():
    """Serves the parameters in FLEET_PUBLIC_PARAMETERS (JSON, by name) to every account, by ARNs that name none, as AWS's.

    GetParameters asks for the right on each parameter; those of AWS have no account in their ARNs (Systems Manager User Guide,
    "Discovering public parameters").
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
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

    def resource(original):
        def arn(service, method, path, headers, body, query_params, region, account_id):
            found = original(service, method, path, headers, body, query_params, region, account_id)
            _more.set(())
            if service != "ssm":
                return found
            names = actions._safe_json_field(body, "Names") or actions._safe_json_field(body, "Name")
            names = [names] if isinstance(names, str) else names
            if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
                return found
            owner = {name: "" if name.startswith("/aws/service/") else account_id for name in names}
            arns = [f"arn:aws:ssm:{region}:{owner[name]}:parameter/{name.lstrip('/')}" for name in names]
            _more.set(tuple(arns[1:]))
            return arns[0]

        return arn

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            more = _more.get() if service == "ssm" else ()
            _more.set(())
            checks = (original(access_key_id, iam_action, service, region, arn, service_context) for arn in (resource_arn, *more))
            return next((denied for denied in checks if denied), None)

        return check

    replace(ssm, "_public_parameter", public)
    replace(actions, "extract_resource_arn", resource)
    replace(evaluator, "enforce", enforce)
