"""Decisions of ministack's evaluator with the extension's policy variables: one JSON object a line in, one Boolean a line out.

Arguments: the directory of the extension.
"""

import json
import sys

sys.path.insert(0, sys.argv[1])

from ministack.core import iam_evaluator as evaluator  # noqa: E402

from extension import policy_variables  # noqa: E402

policy_variables.extend(None, None)


def layer(documents):
    return [evaluator.parse_policy_document(document) for document in documents]


for line in sys.stdin:
    asked = json.loads(line)
    context = evaluator.EvalContext(
        principal_arn=asked["principal"], principal_type="AssumedRole", principal_account="000000000000", action=asked["action"],
        resource_arn=asked["resource"], region="us-east-1", service_context={key.lower(): value for key, value in asked["context"].items()})
    layers = [layer(documents) for documents in asked["layers"]]
    print(json.dumps(evaluator.evaluate(context, *layers).decision == "Allow"))
