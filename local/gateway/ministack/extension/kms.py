"""Resources of KMS alias calls."""

import contextvars

from .shared import replace

# The keys that the running call binds to an alias or frees from it.
_alias_keys = contextvars.ContextVar("fleet_alias_keys", default=())


def extend_kms():
    """A call about an alias is authorized on the alias and on every key that it binds or frees (KMS, "Controlling access to aliases")."""
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import kms

    def resource(original):
        def arn(service, method, path, headers, body, query_params, region, account_id):
            found = original(service, method, path, headers, body, query_params, region, account_id)
            _alias_keys.set(())
            alias = actions._safe_json_field(body, "AliasName") if service == "kms" else None
            if not alias:
                return found
            prefix = f"arn:aws:kms:{region}:{account_id}:"
            bound = (kms._aliases.get(f"{prefix}{alias}"), actions._safe_json_field(body, "TargetKeyId"))
            _alias_keys.set(tuple(key if key.startswith("arn:") else f"{prefix}key/{key}" for key in bound if key))
            return f"{prefix}{alias}"

        return arn

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            keys = _alias_keys.get() if service == "kms" else ()
            _alias_keys.set(())
            checks = (original(access_key_id, iam_action, service, region, arn, service_context) for arn in (resource_arn, *keys))
            return next((denied for denied in checks if denied), None)

        return check

    replace(actions, "extract_resource_arn", resource)
    replace(evaluator, "enforce", enforce)
