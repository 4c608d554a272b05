"""Resources of KMS calls, keys of other accounts, and the policies that keys may have."""

import base64
import contextvars

from .accounts import missing_principals, owners_policy, within
from .authorization import CALLS
from .secrets import members
from .shared import replace

# What another account may do with a key (KMS Developer Guide, "Allowing users in other accounts to use a KMS key"). Grants, which it may make
# too, are not served across accounts: ministack does not evaluate them.
_SHARED = {
    "Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey", "GenerateDataKeyPair", "GenerateDataKeyPairWithoutPlaintext",
    "GenerateDataKeyWithoutPlaintext", "GenerateMac", "GetKeyRotationStatus", "GetPublicKey", "Sign", "Verify", "VerifyMac",
}
# ministack's ciphertexts begin with the ID of their key.
_KEY_ID_LENGTH = 36

# Policies that keys would have, by ARN, while they are judged.
_proposed = contextvars.ContextVar("fleet_proposed_key_policies", default={})


def extend(app, _secret):
    """Keys of other accounts by ARN, under their policies, and only policies that KMS takes.

    A call about an alias is authorized on the alias and on every key that it binds or frees (KMS Developer Guide, "Controlling access to
    aliases"). A policy names principals that exist, and lets its author change it again unless the call bypasses that check (KMS API reference,
    PutKeyPolicy). ministack knows keys of the caller's account alone and takes every policy.
    """
    from ministack.core import iam_evaluator as evaluator
    from ministack.core.responses import error_response_json, get_account_id, get_region
    from ministack.core.router import extract_access_key_id
    from ministack.services import kms

    handler = app.SERVICE_HANDLERS["kms"]

    def named(call):
        call.context["kms:CallerAccount"] = call.account
        if call.operation == "Decrypt" and not call.member("KeyId"):
            call.resources = [key_of_ciphertext(call.member("CiphertextBlob")) or call.resources[0]]
        if not call.member("AliasName"):
            return
        alias = call.arn(call.member("AliasName"))
        keys = (kms._aliases.get(alias), call.member("TargetKeyId"))
        call.resources = [alias, *(key if key.startswith("arn:") else call.arn(f"key/{key}") for key in keys if key)]

    def key_of_ciphertext(text):
        """The ARN of the key of a ciphertext, in whichever account it is."""
        try:
            key_id = base64.b64decode(text)[:_KEY_ID_LENGTH].decode()
        except (TypeError, ValueError):
            return None
        found = (key["Arn"] for (_, region, id_), key in kms._keys.all_items() if (region, id_) == (get_region(), key_id))
        return next(found, None)

    def malformed(message):
        return error_response_json("MalformedPolicyDocumentException", message, 400)

    def refusal(operation, request, access_key):
        """Why KMS does not take the policy of a request; None where it does."""
        policy = request.get("Policy")
        if operation not in ("CreateKey", "PutKeyPolicy") or not isinstance(policy, str):
            return None
        try:
            missing = missing_principals(policy)
        except (ValueError, AttributeError, TypeError):
            return malformed("The policy is not a valid JSON document")
        if missing:
            return malformed("Policy contains a statement with one or more invalid principals.")
        key = kms._resolve_key(request.get("KeyId")) if operation == "PutKeyPolicy" else {"Arn": kms._arn("new")}
        if key is None or request.get("BypassPolicyLockoutSafetyCheck") is True:
            return None
        tags = {f"aws:ResourceTag/{tag['TagKey']}": tag["TagValue"] for tag in request.get("Tags") or []}
        judged = _proposed.set({key["Arn"]: policy})
        try:
            denied = evaluator.enforce(access_key, "kms:PutKeyPolicy", "kms", get_region(), key["Arn"], tags)
        finally:
            _proposed.reset(judged)
        if denied or not lets_root(access_key, policy, key["Arn"]):
            return malformed("The new key policy will not allow you to update the key policy in the future.")
        return None

    def lets_root(access_key, policy, arn):
        """Whether the policy lets its author change it if that is the account's root, of which ministack asks no policy."""
        principal = evaluator.resolve_principal(access_key, get_account_id())
        ctx = evaluator.EvalContext(
            principal_arn=principal.arn, principal_type=principal.type, principal_account=principal.account, action="kms:PutKeyPolicy",
            resource_arn=arn, region=get_region())
        return principal.policies is not None or evaluator.evaluate_resource_policy(policy, ctx).decision == "Allow"

    def policy_for_arn(original):
        owned = owners_policy(original, _SHARED.__contains__)
        return lambda arn: (_proposed.get()[arn], get_account_id()) if arn in _proposed.get() else owned(arn)

    async def handle(method, path, headers, body, query_params):
        operation = headers.get("x-amz-target", "").partition(".")[2]
        request = members(body)
        refused = refusal(operation, request, extract_access_key_id(headers, query_params))
        if refused:
            return refused
        with within(request.get("KeyId") or key_of_ciphertext(request.get("CiphertextBlob"))):
            return await handler(method, path, headers, body, query_params)

    CALLS["kms"] = named
    app.SERVICE_HANDLERS["kms"] = handle
    replace(kms, "key_policy_for_arn", policy_for_arn)
