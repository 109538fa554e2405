"""Changes to requests of Schemathesis, and checks of our own."""

import itertools, re

import schemathesis
from schemathesis.specs.openapi import checks

PLAIN, PROBLEM = "application/json", "application/problem+json"
# Its 503 is a state and no error.
HEALTH = "/health"

requests = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    # A position beyond the log gets 503, as the document says. That would hide real 503s.
    if case.headers and re.fullmatch(r"\+?[0-9]+(\.[a-p]{8})?", str(case.headers.get("Humon-Position", ""))):
        del case.headers["Humon-Position"]
    # Every other request asks for problem details.
    case.headers["Accept"] = (PLAIN, PROBLEM)[next(requests) % 2]


def is_empty_error(response):
    """Whether an error has no body. The document cannot say that only its problem details have a media type."""
    return response.status_code in (401, 404) and not response.content and "content-type" not in response.headers


@schemathesis.check
def media_type_of_document(ctx, response, case):
    return None if is_empty_error(response) else checks.content_type_conformance(ctx, response, case)


@schemathesis.check
def schema_of_document(ctx, response, case):
    return None if is_empty_error(response) else checks.response_schema_conformance(ctx, response, case)


@schemathesis.check
def form_of_errors(ctx, response, case):
    """An error has the form that the request asks for, and problem details agree with their response."""
    if response.status_code < 400 or response.request.method == "HEAD" or case.operation.path == HEALTH:
        return
    media_type = response.headers.get("content-type", [""])[0].split(";")[0]
    if response.request.headers["Accept"] == PLAIN:
        assert media_type in ("", PLAIN), f"{media_type} for a client of the v1 API"
        return
    assert media_type == PROBLEM, f"{media_type} for a client that asks for problem details"
    problem = response.json()
    assert problem["status"] == response.status_code, f"the body says {problem['status']}"
    assert [problem["request_id"]] == response.headers["x-request-id"], f"the body says {problem['request_id']}"
    assert problem["type"] == f"/docs#error-{problem['code']}", f"the type is {problem['type']}"
    assert ("errors" in problem) == (problem["code"] == "validation_failed"), f"{problem['code']} and {problem.get('errors')}"
