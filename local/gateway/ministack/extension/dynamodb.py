"""Resources of DynamoDB calls."""

from .authorization import CALLS


def extend(_app, _secret):
    """Calls about tags name a table by `ResourceArn` (DynamoDB, "Actions, resources, and condition keys")."""

    def tagging(call):
        if call.resources == ["*"] and call.member("ResourceArn"):
            call.resources = [call.member("ResourceArn")]

    CALLS["dynamodb"] = tagging
