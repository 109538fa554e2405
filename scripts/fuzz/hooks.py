"""Changes to requests of Schemathesis."""

import re

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    # A position beyond the log gets 503, as the document says. That would hide real 503s.
    if case.headers and re.fullmatch(r"\+?[0-9]+", str(case.headers.get("Humon-Position", ""))):
        del case.headers["Humon-Position"]
