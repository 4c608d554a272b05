"""Policy variables and the principal's ARN."""

import dataclasses
import re

from .shared import replace

_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_LITERALS = {"*": "*", "?": "?", "$": "$"}


def extend(_app, _secret):
    """Variables in resources and condition values; aws:PrincipalArn of a session is its role's (IAM User Guide, "Global condition keys").

    Tags of resources count for conditions in boundaries and session policies too: ministack looks for them only when the caller's own
    policies name some.
    """
    from ministack.core import iam_evaluator as evaluator
    from ministack.services import iam

    def condition_key(original):
        def value(key, ctx):
            if key.lower() != "aws:principalarn" or ":assumed-role/" not in ctx.principal_arn:
                return original(key, ctx)
            name = evaluator._role_name_from_assumed_arn(ctx.principal_arn)
            role = iam._roles.get_scoped(evaluator._account_from_arn(ctx.principal_arn), None, name)
            return role["Arn"] if role else None

        return value

    def first_match(original):
        def match(ctx, statements, effect):
            resolved = (resolve(statement, lambda key: evaluator._resolve_condition_key(key, ctx)) for statement in statements)
            return original(ctx, [statement for statement in resolved if statement], effect)

        return match

    replace(evaluator, "_resolve_condition_key", condition_key)
    replace(evaluator, "_first_match", first_match)
    replace(evaluator, "_names_condition_key", lambda _: lambda _policies, _prefix: True)


def resolve(statement, value_of):
    """The statement with its variables replaced; None where one has no value: it then counts for nothing."""
    try:
        return dataclasses.replace(
            statement,
            resources=[substitute(resource, value_of) for resource in statement.resources],
            not_resources=[substitute(resource, value_of) for resource in statement.not_resources],
            conditions={
                operator: {key: substitute_all(values, value_of) for key, values in keys.items()} if isinstance(keys, dict) else keys
                for operator, keys in statement.conditions.items()
            },
        )
    except LookupError:
        return None


def substitute_all(values, value_of):
    if isinstance(values, list):
        return [substitute(str(value), value_of) for value in values]
    return substitute(values, value_of) if isinstance(values, str) else values


def substitute(text, value_of):
    """The text with its variables replaced. A value that would act as a wildcard has no place in a pattern."""

    def replaced(match):
        name, _, default = match.group(1).partition(",")
        if name in _LITERALS:
            return _LITERALS[name]
        value = value_of(name.strip())
        if value is None and default:
            value = default.strip().strip("'")
        if not isinstance(value, str) or "*" in value or "?" in value:
            raise LookupError(name)
        return value

    return _VARIABLE.sub(replaced, text)
