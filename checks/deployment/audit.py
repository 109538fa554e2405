"""Compares the responses that clients got with the log in PostgreSQL."""

import collections, json, time

from sandbox import Failed

RECORDED = """
SELECT type, stream, coalesce(personal->>'name', ''), count(*) FROM log.recorded_events
WHERE type IN ('EventCreated', 'EventUpdated', 'AttendanceAdded', 'UserCreated') GROUP BY 1, 2, 3
"""


def audit(database, node, requests):
    """Returns the number of acknowledged writes. Raises Failed if one is lost or doubled, or if a check of humon fails."""
    recorded = collections.Counter()
    streams = {}
    for kind, stream, name, count in database.query(RECORDED):
        mark = name if kind in ("EventCreated", "EventUpdated") else stream
        recorded[mark] += int(count)
        streams[mark] = stream
    lost, doubled, acknowledged = [], [], 0
    attendances = collections.Counter()
    for mark, count in recorded.items():
        if mark.startswith("attendance-"):
            attendances[mark.split("-")[1]] += count
    for request in requests:
        kind = request.kind.removesuffix(" with a key")
        if kind in ("create", "change"):
            count, is_right = recorded[request.mark], request.failed or streams.get(request.mark) == f"event-{request.number}"
        elif kind == "attend":
            # Only its owner attends an event here.
            count, is_right = attendances[str(request.number)], True
        elif kind == "sign up" and not request.failed:
            count, is_right = recorded[f"user-{request.number}"], True
        else:
            continue
        if not request.failed:
            acknowledged += 1
            if count == 0 or not is_right:
                lost.append(request)
        if count > 1:
            doubled.append(request)
    if lost or doubled:
        raise Failed(
            f"of {acknowledged} acknowledged writes {len(lost)} are lost and {len(doubled)} doubled: {(lost + doubled)[:3]}"
        )
    for words in (["log", "verify"], ["projections", "verify", "--all"], ["doctor"]):
        said = node.command(*words, "--json", expected=(0, 2))
        bad = [line for line in map(json.loads, said.splitlines()) if line.get("state") in ("bad", "differs")]
        if bad:
            raise Failed(f"humon {' '.join(words)}: {bad}")
    # The doctor may have begun a comparison and given up waiting for it. A node carries out one at a time.
    deadline = time.monotonic() + 60
    while True:
        status, _, body = node.ask("/index/check")
        if b"under way" not in (body if isinstance(body, bytes) else body.encode()) or time.monotonic() > deadline:
            break
        time.sleep(1)
    if status != 200 or json.loads(body)["differing"] != 0:
        raise Failed(f"{node.name} has an index that differs from the read model: {body[:300]}")
    return acknowledged
