"""The part of checks/calendars that runs with the libraries."""

import datetime, http.client, itertools, json, os, random, sys, unicodedata

import extruct, html5lib, icalendar, recurring_ical_events

SEED, EVENTS = int(sys.argv[1]), int(sys.argv[2])
CHOICES = random.Random(SEED)
# A feed has the next 400 events.
AT_ONE_PLACE = 390
CATEGORIES = [None, "music", "games", "food"]
ZONES = [None, "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"]
LINKS = [None, None, "https://example.org/%0D%0AEND:VEVENT?a=1,2;3&b=%3Cscript%3E", "http://example.org/" + "a" * 80]
EMOJI = "\U0001f469\u200d\U0001f469\u200d\U0001f467"
HOSTILE = [
    "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n", "\\", ";", ",", "\\n", "\n", "\t", "\u2028", "\u0085", "\u202e", "\u2066", "\u0007",
    "BEGIN:VEVENT", "é" * 40, EMOJI, "世界" * 20, '"', ":", "^n", "a" * 80, "%0D%0A", "<script>", "\u0600", "\u0301", "\u200d", "<", "</script>",
]
# Of the addresses that calendars and pages name.
ORIGIN = os.environ["HUMON_WEB_ORIGINS"]
NOW = datetime.datetime.now(datetime.timezone.utc).replace(second=0, microsecond=0)


class API:
    def __init__(self):
        self.connection = http.client.HTTPConnection(os.environ["HUMON_URL"].removeprefix("http://"), timeout=30)
        self.token = None
        self.token = self.send("POST", "/v1/users", {"tb-app-secret": os.environ["HUMON_SECRET"]})["device_token"]

    def send(self, method, path, headers={}, body=None):
        own = {"tb-device-token": self.token} if self.token else {}
        if body is not None:
            own["Content-Type"] = "application/merge-patch+json" if method == "PATCH" else "application/json"
        self.connection.request(method, path, json.dumps(body).encode() if body is not None else None, own | headers)
        response = self.connection.getresponse()
        self.status, data = response.status, response.read()
        expect(response.status < 300, f"{method} {path}: {response.status} {data[:300]}")
        return json.loads(data) if path.startswith("/v1/") and ".ics" not in path else data


def expect(condition, sentence):
    if not condition:
        sys.exit(sentence)


def text(limit):
    parts = [CHOICES.choice(HOSTILE + ["Chess", "in the park", " "]) for _ in range(CHOICES.randrange(1, 6))]
    return "".join(parts)[: CHOICES.randrange(1, limit)]


def shown(text):
    """A text as a calendar shows it."""
    for feed in "\u0085\u2028\u2029":
        text = text.replace(feed, "\n")
    return plain(text)


def plain(text):
    """A text as a page shows it."""
    bidi = [chr(code) for code in itertools.chain(range(0x202A, 0x202F), range(0x2066, 0x206A))]
    return "".join(c for c in text if c in "\n\t" or unicodedata.category(c) != "Cc" and c not in bidi)


def event(place):
    start = NOW + datetime.timedelta(minutes=CHOICES.randrange(-29 * 1440, 360 * 1440))
    made = {"name": "x" + text(200), "lat": place, "lon": CHOICES.uniform(-0.001, 0.001), "started_at": start.isoformat()}
    if CHOICES.random() < 0.7:
        made["address"] = text(200)
    if CHOICES.random() < 0.7:
        made["ended_at"] = (start + datetime.timedelta(minutes=CHOICES.randrange(0, 600))).isoformat()
    for name, choices in [("category", CATEGORIES), ("time_zone", ZONES), ("link", LINKS)]:
        if choice := CHOICES.choice(choices):
            made[name] = choice
    if CHOICES.random() < 0.3:
        # The API refuses what a page would not show.
        made["description"] = ("x" + plain(text(3000)) * CHOICES.choice([1, 1, 20]))[:4000]
    return made


def place(number):
    """Degrees north, two kilometres apart."""
    return round(number * 0.02 - 10, 6)


def area(number, words=""):
    return f"lat={place(number)}&lon=0&radius=0.5{words}"


def listed(api, number, words=""):
    found = api.send("GET", f"/v1/events/nearests?{area(number, words)}")
    return {event["id"]: event for event in found} if isinstance(found, list) else {}


def feed(api, number):
    data = api.send("GET", f"/v1/events.ics?{area(number)}")
    expect(data.endswith(b"\r\n"), "the feed does not end with CR LF")
    for line in data.removesuffix(b"\r\n").split(b"\r\n"):
        expect(len(line) <= 75 and not set(line) & {10, 13}, f"a line is too long, or has a bare CR or LF: {line}")
        line.decode()
    return icalendar.Calendar.from_ical(data)


def moment(text):
    return datetime.datetime.fromisoformat(text).replace(microsecond=0)


def difference(event, entry):
    """What of an event a calendar shows in another way."""
    start = moment(event["started_at"])
    end = moment(event["ended_at"]) if event["ended_at"] else None
    if end is None or end < start:
        end = start + datetime.timedelta(hours=3)
    expected = {
        "SUMMARY": shown(event["name"]), "LOCATION": shown(event["address"]) if event["address"] is not None else None,
        "DTSTART": start, "DTEND": end if end > start else None, "CATEGORIES": event.get("category"),
    }
    found = {
        "SUMMARY": str(entry["SUMMARY"]), "LOCATION": str(entry["LOCATION"]) if "LOCATION" in entry else None,
        "DTSTART": entry["DTSTART"].dt, "DTEND": entry["DTEND"].dt if "DTEND" in entry else None,
        "CATEGORIES": str(entry["CATEGORIES"].cats[0]) if "CATEGORIES" in entry else None,
    }
    expected["GEO"], found["GEO"] = True, max(
        abs(entry["GEO"].latitude - event["lat"]), abs(entry["GEO"].longitude - event["lon"])) <= 0.0000005001
    return [f"{name}: {found[name]!r}, not {expected[name]!r}" for name in expected if found[name] != expected[name]]


def compare(events, entries, what):
    """Pairs both by time and name, since a UID does not tell the id."""
    key = lambda start, name: (start, name)
    left = sorted(events.values(), key=lambda event: key(moment(event["started_at"]), shown(event["name"])))
    right = sorted(entries, key=lambda entry: key(entry["DTSTART"].dt, str(entry["SUMMARY"])))
    expect(len(left) == len(right), f"{what}: {len(right)} events, not {len(left)}")
    for event, entry in zip(left, right):
        differences = difference(event, entry)
        expect(not differences, f"{what}: event {event['id']}: {'; '.join(differences)}")


ELEMENTS = set("html head meta title link script body header a img span main article h1 dl dt dd time small p button".split())


def compare_page(api, event):
    """A page as other people's parsers read it: no element and no attribute comes from a text."""
    page, name = api.send("GET", f"/events/{event['id']}").decode(), plain(event["name"])
    parser = html5lib.HTMLParser(namespaceHTMLElements=False)
    tree = parser.parse(page)
    expect(not parser.errors, f"the page of event {event['id']} has errors: {parser.errors[:3]}")
    elements = [element for element in tree.iter() if isinstance(element.tag, str)]
    foreign = {element.tag for element in elements} - ELEMENTS | {
        attribute for element in elements for attribute in element.attrib if attribute.startswith("on")}
    expect(not foreign and len(tree.findall(".//script")) == 2, f"the page of event {event['id']} has {foreign or 'other scripts'}")
    data = extruct.extract(page, syntaxes=["json-ld", "opengraph"])
    ((linked,), (graph,)) = data["json-ld"], data["opengraph"]
    whole, address = api.send("GET", f"/v1/events/{event['id']}"), f"{ORIGIN}/events/{event['id']}"
    texts = {name: None if whole.get(name) is None else plain(whole[name]) for name in ("address", "description")}
    ended = None if event["ended_at"] is None or moment(event["ended_at"]) < moment(event["started_at"]) else moment(event["ended_at"])
    of_class = [element for element in elements if element.get("class") == "description"]
    links = [element.get("href") for element in elements if element.get("rel", "").startswith("nofollow")]
    found = {
        "h1": "".join(tree.find(".//h1").itertext()), "name": linked["name"], "start": moment(linked["startDate"]),
        "address": linked["location"].get("address"), "lat": linked["location"]["geo"]["latitude"],
        "title": " ".join(dict(graph["properties"])["og:title"].split()), "lon": linked["location"]["geo"]["longitude"],
        "end": moment(linked["endDate"]) if "endDate" in linked else None, "description": linked.get("description"),
        "text": "".join(of_class[0].itertext()) if of_class else None, "links": links, "status": linked["eventStatus"],
        "addresses": {linked.get("url"), dict(graph["properties"]).get("og:url")},
    }
    expected = {
        "h1": name, "name": name, "start": moment(event["started_at"]), "address": texts["address"], "lat": event["lat"],
        "title": " ".join(name.split()), "lon": event["lon"], "end": ended, "description": texts["description"],
        "text": texts["description"], "links": [whole["link"]] if "link" in whole else [],
        "status": "https://schema.org/EventScheduled", "addresses": {address},
    }
    expect(found == expected, f"the page of event {event['id']} has {found}, not {expected}")


def main():
    api = API()
    places = -(-EVENTS // AT_ONE_PLACE)
    for number in range(EVENTS):
        api.send("POST", "/v1/events", body=event(place(number % places)))
    uids = set()
    for number in range(places):
        entries = feed(api, number).walk("VEVENT")
        compare(listed(api, number), entries, f"place {number}")
        uids |= {str(entry["UID"]) for entry in entries}
    expect(len(uids) == EVENTS, f"{len(uids)} UIDs, not {EVENTS}")
    print(f"{EVENTS:,} events of the seed {SEED} came back from {places} feeds", flush=True)

    calendar, windows = feed(api, 0), 100
    for _ in range(windows):
        start = NOW + datetime.timedelta(minutes=CHOICES.randrange(-29 * 1440, 350 * 1440), seconds=30)
        end = start + datetime.timedelta(minutes=CHOICES.randrange(1, 20 * 1440))
        stamps = [time.isoformat().replace("+00:00", "Z") for time in (start, end)]
        found = recurring_ical_events.of(calendar).between(start, end)
        compare(listed(api, 0, f"&from={stamps[0]}&to={stamps[1]}"), found, f"from {stamps[0]} to {stamps[1]}")
    print(f"{windows} windows had the events that the list has", flush=True)

    pages = [found for number in range(min(places, 3)) for found in listed(api, number).values()]
    for found in pages:
        compare_page(api, found)
    print(f"{len(pages)} pages had their event, and no markup of its texts", flush=True)

    follow(api)


def follow(api):
    """One event through its life, beside one of a person who is erased."""
    number, other = 900, 901
    first = {"name": "First", "started_at": NOW.isoformat(), "ended_at": None, "description": None, "link": None}
    made = api.send("POST", "/v1/events", body=event(place(number)) | first)
    secret, lives = api.send("POST", "/v1/users/me/passes", body={"kind": "calendar"})["pass"], []
    later = NOW + datetime.timedelta(days=2)
    changes = [
        (None, None), ("PATCH", {"name": "Second"}), ("PATCH", {"description": EMOJI * 800, "link": LINKS[2]}),
        ("PATCH", {"lat": place(other)}), ("PATCH", {"started_at": later.isoformat()}), ("DELETE", None),
    ]
    for method, body in changes:
        if method:
            api.send(method, f"/v1/events/{made['id']}", body=body)
        if "lat" in (body or {}):
            expect(not feed(api, number).walk("VEVENT"), "an event that moved is still where it was")
            number = other
        (entry,) = feed(api, number).walk("VEVENT")
        whole = icalendar.Calendar.from_ical(api.send("GET", f"/v1/events/{made['id']}.ics")).walk("VEVENT")[0]
        calendar = icalendar.Calendar.from_ical(api.send("GET", f"/v1/calendars/{secret}.ics")).walk("VEVENT")
        own = next((found for found in calendar if found["UID"] == entry["UID"]), {})
        for name in ["UID", "SEQUENCE", "SUMMARY", "STATUS", "DTSTAMP", "DTSTART", "GEO", "URL"]:
            texts = [found[name].to_ical() if name in found else None for found in (entry, whole, own)]
            expect(len(set(texts)) == 1, f"{name} of the feed, of the event and of its owner's calendar: {texts}")
        expect(entry["URL"] == f"{ORIGIN}/events/{made['id']}", f"the URL is {entry.get('URL')}")
        description = None if len(lives) < 2 or method == "DELETE" else f"{EMOJI * 800}\n\n{LINKS[2]}"
        for found in (whole, own):
            expect(found.get("DESCRIPTION") == description, f"the description is {found.get('DESCRIPTION')}")
        lives.append((str(entry["UID"]), int(entry["SEQUENCE"]), str(entry["SUMMARY"]), entry.get("STATUS"), entry["DTSTART"].dt))
    uid = lives[0][0]
    expected = [
        (uid, 0, "First", None, NOW), (uid, 1, "Second", None, NOW), (uid, 2, "Second", None, NOW), (uid, 3, "Second", None, NOW),
        (uid, 4, "Second", None, later), (uid, 5, "Cancelled: Second", "CANCELLED", later),
    ]
    expect(lives == expected, f"the event went through {lives}")
    # A repetition with the dead token waits for the end.
    api.send("DELETE", "/v1/users/me")
    while api.status == 202:
        api.send("DELETE", "/v1/users/me")
    reader = API()
    expect(not feed(reader, number).walk("VEVENT"), "an erased event is in the feed")
    expect(not feed(reader, 0).walk("VEVENT"), "erased events are in the feed")
    print("an event was changed, moved, cancelled and erased under one UID", flush=True)


main()
