"""New tags that do not count for conditions yet, as tagsUncountedSeconds of faults.json says."""

import json
import os
import time

from .shared import replace


def extend(_app, _secret):
    """A resource's tags count from some seconds after they were first asked for. After authorization, which it wraps."""
    from ministack.services import tagging

    path = os.environ["FLEET_FAULTS"]
    # By ARN: the tags that count, those that are there, and since when these have been seen.
    seen = {}

    def seconds(arn):
        try:
            with open(path, encoding="utf-8") as file:
                return json.load(file).get("tagsUncountedSeconds", {}).get(arn.split(":")[2] if arn.count(":") > 2 else "", 0)
        except FileNotFoundError:
            return 0

    def tags(original):
        def of(arn):
            now = original(arn)
            late = seconds(arn)
            if not late:
                seen.pop(arn, None)
                return now
            # ministack changes its own in place.
            copy = dict(now or {})
            counted, present, since = seen.get(arn, ({}, copy, time.time()))
            if present != copy:
                present, since = copy, time.time()
            if time.time() - since >= late:
                counted = copy
            seen[arn] = (counted, present, since)
            return counted

        return of

    replace(tagging, "resource_tags", tags)
