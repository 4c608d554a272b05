"""KMS keys of log groups, which CloudWatch Logs must be able to use."""

from copy import deepcopy

from .accounts import within
from .secrets import members

# CloudWatch Logs User Guide, "Encrypt log data in CloudWatch Logs using AWS KMS": the actions of its policy that carry an encryption context.
_CALLS = ("Encrypt", "Decrypt", "ReEncryptFrom", "ReEncryptTo", "GenerateDataKey")


def extend(app, _secret):
    """ministack has no AssociateKmsKey and no DisassociateKmsKey, and takes any key.

    A key that is missing or disabled is an InvalidParameterException (CloudWatch Logs API Reference, AssociateKmsKey). A key whose policy doesn't
    admit the service has the words of terraform-provider-aws issue 29282. The caller needs no permission in KMS
    (awsdocs/amazon-cloudwatch-logs-user-guide, pull request 25).
    """
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import error_response_json, get_account_id, get_region, json_response
    from ministack.services import cloudwatch_logs as logs
    from ministack.services import kms

    handler = app.SERVICE_HANDLERS["logs"]

    def refusal(named, group):
        """Why a key can't encrypt a group; None where it can."""
        region = get_region()
        arn = f"arn:aws:logs:{region}:{get_account_id()}:log-group:{group}"
        unusable = error_response_json(
            "AccessDeniedException", f"The specified KMS key does not exist or is not allowed to be used with Arn '{arn}'", 400)
        # API Reference, `kmsKeyId`: the ARN of the key. User Guide: the service principal is that of the key's region.
        if ":key/" not in named or named.split(":")[3] != region:
            return error_response_json("InvalidParameterException", f"The specified KMS Key Id could not be found: {named}", 400)
        with within(named):
            key = deepcopy(kms._resolve_key(named))
        if key is None or key["KeyState"] != "Enabled" or key["KeySpec"] != "SYMMETRIC_DEFAULT":
            return error_response_json("InvalidParameterException", f"The specified KMS Key Id is not an enabled, symmetric key: {named}", 400)
        service = f"logs.{region}.amazonaws.com"
        found = evaluator._resource_policy("kms", key["Arn"])
        context = {"kms:encryptioncontext:aws:logs:arn": arn, "aws:sourceaccount": get_account_id(), "aws:sourcearn": arn}
        for call in _CALLS:
            ctx = evaluator.EvalContext(
                principal_arn=service, principal_type="AWSService", principal_account="", action=f"kms:{call}", resource_arn=key["Arn"],
                region=region, service_context=context)
            if found is None or evaluator.evaluate_resource_policy(found[0], ctx, service=service).decision != "Allow":
                return unusable
        return None

    async def handle(method, path, headers, body, query_params):
        operation = headers.get("x-amz-target", "").partition(".")[2]
        request = members(body)
        group, key = request.get("logGroupName"), request.get("kmsKeyId")
        changes = operation in ("AssociateKmsKey", "DisassociateKmsKey")
        if changes and group not in logs._log_groups:
            return error_response_json("ResourceNotFoundException", "The specified log group does not exist.", 400)
        if key and operation in ("AssociateKmsKey", "CreateLogGroup"):
            refused = refusal(key, group)
            if refused:
                return refused
        if not changes:
            return await handler(method, path, headers, body, query_params)
        logs._log_groups[group]["kmsKeyId"] = key if operation == "AssociateKmsKey" else None
        return json_response({})

    app.SERVICE_HANDLERS["logs"] = handle
