"""Resources of DynamoDB calls."""

from .shared import replace


def extend_dynamodb():
    """Calls about tags name a table by `ResourceArn` (DynamoDB, "Actions, resources, and condition keys")."""
    from ministack.core import iam_actions as actions

    def resource_arns(original):
        def arns(body, region, account_id):
            found = original(body, region, account_id)
            arn = actions._safe_json_field(body, "ResourceArn")
            return found or ([arn] if arn else [])

        return arns

    replace(actions, "dynamodb_resource_arns", resource_arns)
