"""Compares searches by words with SQLite's FTS5, and with Python's tables of Unicode.

Usage: python3 checks/words [--humon PATH] [--seed N] [--events N] [--queries N] [--keep]
Starts humon on a private PostgreSQL in a temporary directory, and adds events of two categories with random names and addresses. Those of
the first are Latin words with accents, case, digits and punctuation: each query of one to three beginnings must find the events that FTS5
finds (unicode61, remove_diacritics 2). Those of the second are Greek, Cyrillic, Hebrew with points, Arabic with marks, and letters such as
ø that do not decompose: each query must find what a fold of the texts by unicodedata finds. Boxes are read page by page, and compared with
searches around a place and with clusters. Needs nothing but Python.
"""

import argparse, concurrent.futures, http.client, json, os, random, sqlite3, sys, unicodedata, urllib.parse

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "harness"))
sys.dont_write_bytecode = True

from sandbox import ROOT, Failed, end_on_signals, run_in_sandbox
from server import HumonServer

WRITERS = 8
PUNCTUATION = [" ", " ", " ", " ", "-", ", ", ". ", "'", " & ", "/", " (", ") ", "!", "\u2013", "\u2019", " \u00b7 ", "_"]
MARKS = "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0323\u0327\u0328"
LATIN = [chr(code) for code in range(ord("a"), ord("z") + 1)]
ACCENTED = sorted({unicodedata.normalize("NFC", letter + mark) for letter in LATIN for mark in MARKS if
                   len(unicodedata.normalize("NFC", letter + mark)) == 1})
# Letters, and marks that stand behind some of them.
SCRIPTS = [
    ([chr(code) for code in range(0x3B1, 0x3CA)] + list("άέήίόύώϊϋΐΰ"), "\u0301\u0308"),
    ([chr(code) for code in range(0x430, 0x450)] + list("ёйїґєі"), "\u0301\u0306"),
    ([chr(code) for code in range(0x5D0, 0x5EB)], [chr(code) for code in range(0x5B0, 0x5BD)]),
    ([chr(code) for code in (*range(0x627, 0x63B), *range(0x641, 0x64B), 0x622, 0x623, 0x625)], [chr(code) for code in range(0x64B, 0x653)]),
    (list("aeionstrødðłæœþħıß"), "\u0301\u0308"),
]
STROKES = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "æ": "ae", "œ": "oe", "þ": "th", "ß": "ss", "ẞ": "ss"}


def main():
    options = arguments()
    end_on_signals()
    sys.exit(run_in_sandbox("words", options.keep, lambda sandbox: test(sandbox, options)))


def test(sandbox, options):
    server = HumonServer(sandbox, options.humon)
    server.start()
    choices = random.Random(options.seed)
    api = API(server)
    tested = []
    for texts, oracle in ((LatinTexts(choices), SQLite), (OtherTexts(choices), Folded)):
        events = [texts.event() for _ in range(options.events // 2)]
        with concurrent.futures.ThreadPoolExecutor(WRITERS) as writers:
            parts = [events[number::WRITERS] for number in range(WRITERS)]
            made = dict(pair for part in writers.map(lambda part: API(server, api.token).create(part), parts) for pair in part)
        tested.append((texts, oracle(made), made))
    found = sum(compare(api, *tested[number % 2], number) for number in range(options.queries))
    if found < options.queries:
        raise Failed(f"the queries found {found} events: too few to prove anything")
    print(f"{options.queries} queries of seed {options.seed} found {found} events, all as expected")


def compare(api, texts, oracle, made, number):
    beginnings = texts.query()
    expected = oracle.find(beginnings)
    words = {"q": " ".join(beginnings), "category": texts.category}
    ids = {event["id"] for event in api.pages("/v1/events?" + urllib.parse.urlencode({"bbox": "-180,-90,180,90", "limit": 700} | words))}
    if ids != expected:
        differing = sorted(ids ^ expected)[:5]
        raise Failed(f"{words}: {[(id, id in ids, made[id]) for id in differing]}")
    if number % 5 == 0:
        near = api.pages("/v1/events/nearests?" + urllib.parse.urlencode({"lat": 1, "lon": 2, "radius": 50_000, "limit": 700} | words))
        clusters = api.pages("/v1/events/clusters?" + urllib.parse.urlencode({"bbox": "-180,-90,180,90", "zoom": 2} | words))
        if {event["id"] for event in near} != ids or sum(cluster["count"] for cluster in clusters) != len(ids):
            raise Failed(f"{words}: a box, a search around a place and the clusters differ")
    return len(ids)


class API:
    def __init__(self, server, token=None):
        self.connection = http.client.HTTPConnection(server.host, server.port, timeout=30)
        self.token = token
        self.token = token or self.send("POST", "/v1/users", {"tb-app-secret": server.secret})[0]["device_token"]

    def send(self, method, path, headers={}, body=None):
        own = {"tb-device-token": self.token} if self.token else {}
        own |= {"Content-Type": "application/json"} if body else {}
        self.connection.request(method, path, json.dumps(body).encode() if body else None, own | headers)
        response = self.connection.getresponse()
        data = response.read()
        if response.status >= 300:
            raise Failed(f"{method} {path}: {response.status} {data[:300]}")
        return json.loads(data), response.headers.get("Link")

    def create(self, events):
        return [(self.send("POST", "/v1/events", body=event)[0]["id"], event) for event in events]

    def pages(self, path):
        found = []
        while path:
            page, link = self.send("GET", path)
            found += page if isinstance(page, list) else []
            path = link[1:].split(">")[0] if link else None
        return found


class Texts:
    """Random texts of words that share their beginnings."""

    def __init__(self, choices):
        self.choices = choices
        self.words = [self.word() for _ in range(300)]

    def event(self):
        choices = self.choices
        event = {"name": self.text(), "lat": choices.uniform(-90, 90), "lon": choices.uniform(-180, 180),
                 "started_at": "2030-09-14T00:00:00Z", "category": self.category}
        return event | ({"address": self.text()} if choices.random() < 0.7 else {})

    def text(self):
        words = (self.spelled(self.choices.choice(self.words)) for _ in range(self.choices.randrange(1, 7)))
        return "".join(word + self.choices.choice(PUNCTUATION) for word in words)[:200]

    def query(self):
        count = self.choices.choice([1, 1, 2, 3])
        words = self.choices.choices(self.words, k=count)
        return [self.spelled(word[: self.choices.randrange(1, len(word) + 1)]) for word in words]

    def spelled(self, word):
        """The word in another case, composed or decomposed."""
        word = self.choices.choice([str, str.upper, str.title])(word)
        return unicodedata.normalize(self.choices.choice(["NFC", "NFC", "NFD"]), word)


class LatinTexts(Texts):
    category = "music"

    def word(self):
        # Few letters, so that words begin alike.
        letters = [self.choices.choice("aeinrst") for _ in range(self.choices.randrange(1, 9))]
        for place in range(len(letters)):
            if self.choices.random() < 0.2:
                letters[place] = self.choices.choice(ACCENTED + LATIN + list("0123456789"))
        return "".join(letters)


class OtherTexts(Texts):
    category = "games"

    def word(self):
        letters, marks = self.choices.choice(SCRIPTS)
        few = self.choices.sample(letters, 6) if self.choices.random() < 0.3 else letters[:6]
        word = ""
        for _ in range(self.choices.randrange(1, 7)):
            word += self.choices.choice(few) + (self.choices.choice(marks) if self.choices.random() < 0.3 else "")
        return word


class SQLite:
    def __init__(self, events):
        self.database = sqlite3.connect(":memory:")
        self.database.execute("CREATE VIRTUAL TABLE events USING fts5(name, address, tokenize = 'unicode61 remove_diacritics 2')")
        rows = ((id, event["name"], event.get("address")) for id, event in events.items())
        self.database.executemany("INSERT INTO events (rowid, name, address) VALUES (?, ?, ?)", rows)

    def find(self, beginnings):
        query = " AND ".join(f'"{beginning}"*' for beginning in beginnings)
        return {row[0] for row in self.database.execute("SELECT rowid FROM events WHERE events MATCH ?", [query])}


class Folded:
    def __init__(self, events):
        self.words = {id: folded(event["name"] + " " + event.get("address", "")) for id, event in events.items()}

    def find(self, beginnings):
        wanted = folded(" ".join(beginnings))
        return {
            id for id, words in self.words.items()
            if all(any(word.startswith(beginning) for word in words) for beginning in wanted)
        }


def folded(text):
    """The words of a text: without marks, upper and then lower case, letter by letter, so that no sigma is a final one."""
    letters = ""
    for letter in unicodedata.normalize("NFKD", text):
        category = unicodedata.category(letter)
        if category[0] == "M":
            continue
        if category[0] not in "LN":
            letters += " "
            continue
        for lower in letter.upper().lower():
            letters += STROKES.get(lower, lower)
    return letters.split()


def arguments():
    parser = argparse.ArgumentParser(
        prog="checks/words", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--humon", default=f"{ROOT}/.build/release/humon")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--events", type=int, default=4_000)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
