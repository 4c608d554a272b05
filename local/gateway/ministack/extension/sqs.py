"""URLs of SQS queues."""

from .shared import replace


def extend(_app, _secret):
    """A queue's URL is one that its reader can call: under AWS's own names the gateway speaks TLS only, as AWS does."""
    from ministack.services import sqs

    def externalize(original):
        def url(canonical):
            reached = original(canonical)
            host = sqs._request_host.get().partition(":")[0]
            under_aws = host.endswith((".amazonaws.com", ".api.aws"))
            return reached.replace("http://", "https://", 1) if under_aws else reached

        return url

    replace(sqs, "_externalize_url", externalize)
