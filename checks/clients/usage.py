"""Uses the generated client as an app does: every kind of body, response and error. Reads each JSON body with the models, too."""

import datetime, os

import models
from humon import AuthenticatedClient, Client
from humon.api.accounts import change_password, sign_in, sign_out
from humon.api.attendances import attend_event, create_attendance, get_attendance, leave_event, list_attendances, list_attendees
from humon.api.events import (
    cancel_event,
    count_events,
    create_event,
    find_nearest_events,
    get_event,
    list_events,
    list_own_events,
    replace_event,
    update_event,
)
from humon.api.service import get_health, get_open_api
from humon.api.tasks import create_task, delete_task, list_tasks, replace_task, update_task
from humon.api.users import create_user, end_pass, get_user, issue_pass, list_passes, return_user, rotate_token
from humon.models import (
    AccountDetails,
    AttendedEvent,
    Credentials,
    Event,
    EventDetails,
    EventDetailsForm,
    EventPatch,
    IssuedToken,
    NewAttendance,
    NewPass,
    NewTask,
    NewToken,
    NewUser,
    NoEventsFound,
    PassKind,
    PassUse,
    PasswordChange,
    Passwords,
    Problem,
    SignIn,
    Task,
    TaskChange,
    TaskDetails,
    TaskPatch,
    User,
)

URL, SECRET = os.environ["HUMON_URL"], os.environ["HUMON_SECRET"]
START = datetime.datetime(2030, 9, 13, 17, tzinfo=datetime.timezone.utc)
requests = 0


def sent(operation, status, model, **arguments):
    """Sends a request, and returns the parsed response and its header fields."""
    global requests
    requests += 1
    response = operation.sync_detailed(**arguments)
    assert response.status_code == status, f"{operation.__name__}: {response.status_code} {response.content!r}"
    assert response.headers["content-type"].startswith("application/problem+json" if status >= 400 else "application/json")
    getattr(models, model).model_validate_json(response.content)
    return response.parsed, response.headers


def problem(operation, status, code, **arguments):
    found, _ = sent(operation, status, "Problem", **arguments)
    assert isinstance(found, Problem) and (found.status, found.code) == (status, code), f"{operation.__name__}: {found}"
    return found


def device(token, name="tb-device-token"):
    return AuthenticatedClient(base_url=URL, token=token, prefix="", auth_header_name=name)


def main():
    nobody = Client(base_url=URL)
    sent(get_health, 200, "Health", client=nobody)
    sent(get_open_api, 200, "OpenAPIDocument", client=nobody)

    app = device(SECRET, "tb-app-secret")
    problem(create_user, 404, "not_found", client=device("wrong", "tb-app-secret"))
    user, _ = sent(create_user, 200, "User", client=app)
    assert isinstance(user, User) and user.device_token == user.auth_token
    again, _ = sent(create_user, 200, "User", client=app, tb_device_token=user.device_token)
    assert again == user
    guest, _ = sent(create_user, 200, "User", client=app)
    owner, visitor = device(user.device_token), device(guest.device_token)
    assert sent(get_user, 200, "UserReference", client=owner)[0].id == user.id
    problem(get_user, 401, "unauthorized", client=device("unknown"))

    events(owner, visitor, nobody)
    attendances(owner, visitor, guest)
    sent(rotate_token, 200, "User", client=visitor, body=NewToken(device_token="a-token-of-this-client"))
    problem(get_user, 401, "unauthorized", client=visitor)
    passes(app, device("a-token-of-this-client"), guest)
    tasks(nobody)
    print(f"{requests} requests of a generated client, and their responses as generated models")


def passes(app, old, user):
    for kind in PassKind:
        issued, _ = sent(issue_pass, 200, "IssuedPass", client=old, body=NewPass(kind=kind))
    sent(end_pass, 200, "EmptyObject", kind=PassKind.RECOVERY, client=old)
    assert [entry.kind for entry in sent(list_passes, 200, "Passes", client=old)[0]] == ["calendar", "transfer"]
    issued, _ = sent(issue_pass, 200, "IssuedPass", client=old, body=NewPass(kind=PassKind.TRANSFER))
    use = PassUse(pass_=issued.pass_, device_token="another-token-of-this-client")
    assert sent(return_user, 200, "User", client=app, body=use)[0].id == user.id
    use.device_token = "a-third-token-of-this-client"
    problem(return_user, 404, "not_found", client=app, body=use)


def events(owner, visitor, nobody):
    details = EventDetails(name="Chess", lat=37.76, lon=-122.43, started_at=START, address="Dolores Park")
    key = '"8e03978e-40d5-43dd-bc93-6894a57f9324"'
    created, _ = sent(create_event, 200, "EventReference", client=owner, body=details, idempotency_key=key)
    repeated, _ = sent(create_event, 200, "EventReference", client=owner, body=details, idempotency_key=key)
    assert created == repeated
    details.name = "Go"
    problem(create_event, 422, "idempotency_key_reused", client=owner, body=details, idempotency_key=key)
    event, headers = sent(get_event, 200, "Event", id=created.id, client=nobody)
    assert isinstance(event, Event) and (event.name, event.started_at, event.ended_at) == ("Chess", START, None)
    _, changed = sent(
        update_event, 200, "EventReference", id=created.id, client=owner, body=EventPatch(name="Tea"), if_match=headers["etag"]
    )
    problem(
        update_event,
        412,
        "precondition_failed",
        id=created.id,
        client=owner,
        body=EventPatch(name="Late"),
        if_match=headers["etag"],
    )
    _, headers = sent(get_event, 200, "Event", id=created.id, client=nobody, humon_position=changed["humon-position"])
    assert headers["etag"] == changed["etag"], (headers, changed)
    misspelt = EventPatch()
    misspelt["nmae"] = "Tea"
    error = problem(update_event, 422, "validation_failed", id=created.id, client=owner, body=misspelt).errors[0]
    assert (error.pointer, error.code) == ("/nmae", "unknown")
    problem(update_event, 403, "forbidden", id=created.id, client=visitor, body=EventPatch(name="Mine"))
    details.lat = 91
    error = problem(replace_event, 422, "validation_failed", id=created.id, client=owner, body=details).errors[0]
    assert (error.pointer, error.code) == ("/lat", "out_of_range")
    details.lat, details.ended_at = 37.76, START + datetime.timedelta(hours=2)
    sent(replace_event, 200, "EventReference", id=created.id, client=owner, body=details)
    assert sent(get_event, 200, "Event", id=created.id, client=nobody)[0].ended_at == details.ended_at
    form = EventDetailsForm.from_dict(details.to_dict())
    second, _ = sent(create_event, 200, "EventReference", client=owner, body=form)
    problem(get_event, 404, "not_found", id=99, client=nobody)

    near, _ = sent(find_nearest_events, 200, "Events", client=nobody, lat=37.76, lon=-122.43, radius=5.0, from_=START)
    assert [event.id for event in near] == [created.id, second.id]
    none, _ = sent(find_nearest_events, 200, "NoEventsFound", client=nobody, lat=-37.76, lon=122.43)
    assert isinstance(none, NoEventsFound)
    box = "-122.5,37.7,-122.3,37.8"
    assert len(sent(list_events, 200, "EventsInBox", client=nobody, bbox=box)[0]) == 2
    assert sent(count_events, 200, "Clusters", client=nobody, bbox=box, zoom=12)[0][0].count == 2
    assert problem(list_events, 422, "validation_failed", client=nobody, bbox="here").errors[0].code == "not_a_box"
    assert len(sent(list_own_events, 200, "OwnEvents", client=owner, limit=1)[0]) == 1
    sent(cancel_event, 200, "EventReference", id=second.id, client=owner)
    problem(get_event, 410, "event_cancelled", id=second.id, client=nobody)


def attendances(owner, visitor, guest):
    sent(create_attendance, 200, "Attendance", client=visitor, body=NewAttendance(event=AttendedEvent(id=1)))
    problem(create_attendance, 404, "not_found", client=visitor, body=NewAttendance(event=AttendedEvent(id="99")))
    sent(attend_event, 200, "Attendance", id=1, client=owner)
    summary, _ = sent(get_attendance, 200, "AttendanceSummary", id=1, client=visitor)
    assert (summary.count, summary.attending) == (2, True)
    assert guest.id in [attendee.user.id for attendee in sent(list_attendees, 200, "Attendees", id=1, client=owner)[0]]
    assert len(sent(list_attendances, 200, "AttendedEvents", client=visitor)[0]) == 1
    sent(leave_event, 200, "Attendance", id=1, client=visitor)


def tasks(nobody):
    person = AccountDetails(email="ann@example.org", password="correct horse", name="Ann")
    account, _ = sent(create_user, 200, "IssuedToken", client=nobody, body=NewUser(user=person))
    assert isinstance(account, IssuedToken)
    error = problem(create_user, 422, "validation_failed", client=nobody, body=NewUser(user=person)).errors[0]
    assert (error.pointer, error.code) == ("/user/email", "taken")
    ann = AuthenticatedClient(base_url=URL, token=account.token)
    task, _ = sent(create_task, 200, "Task", client=ann, body=NewTask(task=TaskDetails(title="Buy milk", completed=True)))
    assert task == Task(id=1, title="Buy milk", completed=True)
    change = TaskChange(task=TaskPatch(completed=False))
    for _ in range(2):
        task, _ = sent(update_task, 200, "Task", id=1, client=ann, body=change, idempotency_key="reopen-1")
        assert task.completed is False
    task, _ = sent(replace_task, 200, "Task", id=1, client=ann, body=TaskChange(task=TaskPatch(title="Buy tea")))
    assert sent(list_tasks, 200, "Tasks", client=ann)[0] == [task]
    sent(delete_task, 200, "EmptyObject", id=1, client=ann)
    problem(delete_task, 404, "not_found", id=1, client=ann)

    wrong = Credentials(user=SignIn(email="ann@example.org", password="battery staple"))
    problem(sign_in, 401, "wrong_credentials", client=nobody, body=wrong)
    passwords = Passwords(current_password="correct horse", password="battery staple")
    sent(change_password, 200, "AccountReference", client=ann, body=PasswordChange(user=passwords))
    second, _ = sent(sign_in, 200, "IssuedToken", client=nobody, body=wrong)
    sent(sign_out, 200, "EmptyObject", client=AuthenticatedClient(base_url=URL, token=second.token))
    problem(list_tasks, 401, "unauthorized", client=AuthenticatedClient(base_url=URL, token=second.token))


main()
