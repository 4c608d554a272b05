"""Resources of KMS alias calls."""

from .authorization import CALLS


def extend(_app, _secret):
    """A call about an alias is authorized on the alias and on every key that it binds or frees (KMS, "Controlling access to aliases")."""
    from ministack.services import kms

    def aliased(call):
        if not call.member("AliasName"):
            return
        alias = call.arn(call.member("AliasName"))
        keys = (kms._aliases.get(alias), call.member("TargetKeyId"))
        call.resources = [alias, *(key if key.startswith("arn:") else call.arn(f"key/{key}") for key in keys if key)]

    CALLS["kms"] = aliased
