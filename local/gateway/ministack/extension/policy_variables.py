"""Policy variables and the principal's ARN."""

import dataclasses
import re

from .shared import replace

_VARIABLE = re.compile(r"\$\{([^}]+)\}")
_LITERALS = ("*", "?", "$")
# Characters of a private use area in place of wildcards that a pattern and a value have as ordinary characters.
_ORDINARY = str.maketrans("*?", "\ue000\ue001")


def extend(_app, _secret):
    """Variables in resources and condition values; aws:PrincipalArn of a session is its role's (IAM User Guide, "Global condition keys").

    An escaped wildcard and one in the value of a variable are ordinary characters (IAM User Guide, "IAM policy elements: Variables and tags"), and
    ARN operators compare the six parts of an ARN one by one (same guide, "Amazon Resource Name (ARN) condition operators").
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

    def like(original):
        return lambda value, pattern: original(value.translate(_ORDINARY), pattern)

    def arn_like(actual, expected):
        parts = list(zip(actual.split(":", 5), expected.split(":", 5)))
        return len(parts) == 6 and all(evaluator.fnmatch_iam_cs(part, pattern) for part, pattern in parts)

    for operator in ("arnequals", "arnlike"):
        evaluator._CONDITION_OPS[operator] = arn_like
    for operator in ("arnnotequals", "arnnotlike"):
        evaluator._CONDITION_OPS[operator] = lambda actual, expected: not arn_like(actual, expected)
    replace(evaluator, "fnmatch_iam_cs", like)
    replace(evaluator, "_resolve_condition_key", condition_key)
    replace(evaluator, "_first_match", first_match)
    replace(evaluator, "_names_condition_key", lambda _: lambda _policies, _prefix: True)


def resolve(statement, value_of):
    """The statement with its variables replaced; None where it applies to no resource.

    Nothing is equal to a variable without a value, or like it, so it is left out: a negated operator then holds (IAM User Guide, "Policy variables with
    no value").
    """
    resources = substitute_all(statement.resources, value_of, True)
    if statement.resources and not resources:
        return None
    return dataclasses.replace(
        statement,
        resources=resources,
        not_resources=substitute_all(statement.not_resources, value_of, True),
        conditions={
            operator: {key: substitute_all(values, value_of, "like" in operator.lower() or "arn" in operator.lower()) for key, values in keys.items()}
            if isinstance(keys, dict) else keys
            for operator, keys in statement.conditions.items()
        },
    )


def substitute_all(values, value_of, pattern):
    substituted = (substitute(str(value), value_of, pattern) for value in (values if isinstance(values, list) else [values]))
    return [value for value in substituted if value is not None]


def substitute(text, value_of, pattern):
    """The text with its variables replaced; None where one has no value."""
    missing = False

    def replaced(match):
        nonlocal missing
        name, _, default = match.group(1).partition(", ")
        value = name if name in _LITERALS else value_of(name) or default.replace("'", "")
        missing = missing or not isinstance(value, str) or not value
        return "" if missing else value.translate(_ORDINARY) if pattern else value

    substituted = _VARIABLE.sub(replaced, text)
    return None if missing else substituted
