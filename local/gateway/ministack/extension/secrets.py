"""Secrets of other accounts, names of deleted secrets, and the keys that secrets are encrypted with."""

import contextvars
import json

from .accounts import missing_principals, owners_policy, within
from .shared import replace

# What another account may do with a secret (Secrets Manager User Guide, "Access AWS Secrets Manager secrets from a different account").
_SHARED = {
    "CancelRotateSecret", "DeleteResourcePolicy", "DeleteSecret", "DescribeSecret", "GetResourcePolicy", "GetSecretValue", "ListSecretVersionIds",
    "PutResourcePolicy", "PutSecretValue", "RemoveRegionsFromReplication", "ReplicateSecretToRegions", "RestoreSecret", "RotateSecret",
    "StopReplicationToReplica", "TagResource", "UntagResource", "UpdateSecret", "UpdateSecretVersionStage",
}
_SERVICE_KEY = "alias/aws/secretsmanager"

_key_refused = contextvars.ContextVar("fleet_key_of_secret_refused", default=False)


def extend(app, _secret):
    """A secret of another account is named by its whole ARN. Whoever reads a value needs kms:Decrypt on its key, through Secrets Manager.

    Secrets Manager User Guide, "Secret encryption and decryption in AWS Secrets Manager": it asks KMS in the name of its caller, with the
    secret's ARN in the encryption context. AWS's own key for the service asks callers of its account for nothing and serves no other account.
    Writing asks for kms:GenerateDataKey there as well; here it does not. ministack knows secrets of the caller's account alone, and no keys.
    """
    from ministack.core import iam_actions as actions
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import error_response_json, get_account_id
    from ministack.services import kms, secretsmanager

    handler = app.SERVICE_HANDLERS["secretsmanager"]

    def key_of(secret_arn):
        """The ARN of the customer's key of a secret; None where the secret has none or does not exist."""
        with within(secret_arn):
            _, secret = secretsmanager._resolve(secret_arn)
            named = (secret or {}).get("KmsKeyId")
            if not named or named.endswith(_SERVICE_KEY):
                return None
            if named.startswith("arn:") and ":key/" in named:
                return named
            return (kms._resolve_key(named) or {}).get("Arn")

    def enforce(original):
        def check(access_key_id, iam_action, service, region, resource_arn="*", service_context=None):
            _key_refused.set(False)
            denied = original(access_key_id, iam_action, service, region, resource_arn, service_context)
            if denied or iam_action != "secretsmanager:GetSecretValue":
                return denied
            key = key_of(resource_arn)
            if key is None:
                return None
            through = {
                "kms:ViaService": f"secretsmanager.{region}.amazonaws.com", "kms:CallerAccount": get_account_id(),
                "kms:EncryptionContext:SecretARN": resource_arn, "kms:EncryptionContextKeys": ["SecretARN", "SecretVersionId"],
            }
            denied = original(access_key_id, "kms:Decrypt", "kms", region, key, through)
            _key_refused.set(denied is not None)
            return denied

        return check

    def denial(original):
        def response(service, iam_action, principal_arn, request_id, **options):
            if service == "secretsmanager" and _key_refused.get():
                options["message"] = "Access to KMS is not allowed"
            return original(service, iam_action, principal_arn, request_id, **options)

        return response

    async def handle(method, path, headers, body, query_params):
        operation = headers.get("x-amz-target", "").partition(".")[2]
        request = members(body)
        arn, policy = request.get("SecretId"), request.get("ResourcePolicy")
        if operation == "PutResourcePolicy" and unsupported(policy):
            return error_response_json("MalformedPolicyDocumentException", "This resource policy contains an unsupported principal.", 400)
        if operation == "CreateSecret" and (secretsmanager._secrets.get(request.get("Name")) or {}).get("DeletedDate"):
            # ministack answers ResourceExistsException. The words are AWS's (redpanda-data/console#1835).
            return error_response_json(
                "InvalidRequestException", "You can't create this secret because a secret with this name is already scheduled for deletion.", 400)
        caller = get_account_id()
        with within(arn):
            if get_account_id() != caller and operation == "GetSecretValue" and key_of(arn) is None:
                return error_response_json(
                    "InvalidRequestException",
                    "You can't access a secret from a different AWS account if you encrypt the secret with the default KMS service key.", 400)
            return await handler(method, path, headers, body, query_params)

    app.SERVICE_HANDLERS["secretsmanager"] = handle
    replace(secretsmanager, "secret_policy_for_arn", lambda original: owners_policy(original, _SHARED.__contains__))
    replace(evaluator, "enforce", enforce)
    replace(actions, "access_denied_response", denial)


def unsupported(policy):
    try:
        return isinstance(policy, str) and bool(missing_principals(policy))
    except (ValueError, AttributeError, TypeError):
        # Secrets Manager's own handler says what is wrong with the document.
        return False


def members(body):
    """The members of a JSON request; none where it is not one, which the service's own handler refuses."""
    try:
        request = json.loads(body or b"{}")
    except ValueError:
        return {}
    return request if isinstance(request, dict) else {}
