"""What faults.json says (../../faults/faults.ts): new tags that do not count for conditions yet, and a clock that is ahead."""

import datetime
import json
import os
import time as machine

from .shared import replace


def extend(_app, _secret):
    late_tags()
    clock()


def fault(name, otherwise):
    try:
        with open(os.environ["FLEET_FAULTS"], encoding="utf-8") as file:
            return json.load(file).get(name, otherwise)
    except FileNotFoundError:
        return otherwise


def clock():
    """Signatures and sessions are judged by a clock that is ahead by clockAheadSeconds; what is made keeps the machine's time."""
    from ministack.core import iam_evaluator, sigv4
    from ministack.services import sts

    class Ahead:
        """The module `time`, ahead."""

        def __getattr__(self, name):
            return getattr(machine, name)

        @staticmethod
        def time():
            return machine.time() + fault("clockAheadSeconds", 0)

    def judged(original):
        def failure(signature):
            return original(signature, now=datetime.datetime.fromtimestamp(Ahead.time(), datetime.timezone.utc))

        return failure

    for module in (iam_evaluator, sts):
        replace(module, "time", lambda _: Ahead())
    replace(sigv4, "request_time_failure", judged)


def late_tags():
    """A resource's tags count from some seconds after they were first asked for. After authorization, which it wraps."""
    from ministack.services import tagging

    # By ARN: the tags that count, those that are there, and since when these have been seen.
    seen = {}

    def seconds(arn):
        return fault("tagsUncountedSeconds", {}).get(arn.split(":")[2] if arn.count(":") > 2 else "", 0)

    def tags(original):
        def of(arn):
            now = original(arn)
            late = seconds(arn)
            if not late:
                seen.pop(arn, None)
                return now
            # ministack changes its own in place.
            copy = dict(now or {})
            counted, present, since = seen.get(arn, ({}, copy, machine.time()))
            if present != copy:
                present, since = copy, machine.time()
            if machine.time() - since >= late:
                counted = copy
            seen[arn] = (counted, present, since)
            return counted

        return of

    replace(tagging, "resource_tags", tags)
