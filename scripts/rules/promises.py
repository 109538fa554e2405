"""The rule about promises: what a release stored, or told other programs, stays and keeps its meaning.

Each file of docs/promises lists what its release was the first to promise, one promise a line. `make docs NAME=promises` writes it.
"""
import hashlib, re

from .tree import ROOT, Tree, balanced, line_at, line_of, rule

LISTS = "docs/promises"
HEADER = """# What release {} was the first to promise: see docs/upgrading.md. `make docs NAME=promises` adds lines and takes none away.
# A line may change if its meaning got wider or got other words, and may go with a setting that warned for a minor release.
"""
ARCHIVE = "Libraries/EventStore/Sources/Archive"
# The promises of a file: a pattern, and the line that a match makes. The pages are those that tests hold equal to the program.
FOUND = [
    ("Sources/Events/EventText.swift", r'(?m)^    case (?:\w+ = ")?(\w+)"?$', "member {} of Events, personal"),
    (f"{ARCHIVE}/LogExport.swift", r'"(\w+)":', "archive {} in an export"),
    (f"{ARCHIVE}/LogImport.swift", r"\b(\w+) (uuid|text|bigint|integer|smallint|json)(?=[,\n)])", "archive {} in an import: {}"),
    (f"{ARCHIVE}/LogImport.swift", r"->> '(\w+)'", "archive {} in an import: text"),
    ("docs/settings.md", r"(?m)^\| `(\w+)` \| ([^|]*) \|", "setting {}: {}"),
    ("docs/settings.md", r"`(\w+_FILE)`", "setting {}: a path"),
    # The meaning of a code is the beginning of its cell.
    ("docs/cli.md", r"(?m)^\| (\d[\d, ]*) \| ([^|;:]*[^|;: ])", "exit {}: {}"),
    ("docs/openapi.yaml", r"- const: (\w+)\n +x-status: (\d+)\n", "problem {}: {}"),
    ("docs/openapi.yaml", r"- const: (\w+)\n +description: ", "problem {} of a field"),
    ("docs/metrics.md", r"(?m)^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*) \|", "metric {}: {} {}"),
    ("docs/metrics.md", r"`(humon_(?:backup|certificate)_\w+)`", "metric {} of a script"),
]
# What to do instead of a change, by the first word of the promise.
INSTEAD = {
    "event": "keep reading it, and add an upcaster to the next format: CONTRIBUTING.md, A stored format",
    "member": "keep reading it, and write another one in the next format: CONTRIBUTING.md, A stored format",
    "migration": "restore it, and add another migration: CONTRIBUTING.md, A migration",
    "table": "keep it with its columns, and add others",
    "setting": "keep it for one more minor release, with a warning, beside a new one",
}


def promises(tree):
    """What this checkout keeps: the line of each name, and the file and line that say so."""
    found = [*events(tree)]
    for path, pattern, promise in FOUND:
        text = tree.text(path)
        found += [(promise.format(*match.groups()), path, line_at(text, match.start())) for match in re.finditer(pattern, text)]
    for path in tree.below("db/migrations", ending=".sql"):
        text = tree.text(path)
        found.append((f"migration {path.rpartition('/')[2]}: sha256 {hashlib.sha256(text.encode()).hexdigest()}", path, 1))
        for verb, kind, name, rest in re.findall(r"\b(CREATE|ALTER|DROP) (TABLE|SEQUENCE) (?:IF EXISTS )?log\.(\w+)([^;]*)", text):
            line = f"{kind.lower()} log.{name}"
            if verb == "CREATE": found.append((line, path, line_of(text, f"CREATE {kind} log.{name}")))
            # A table is another one without one of its columns.
            elif verb == "DROP" or re.search(r"\b(?:RENAME|DROP COLUMN|TYPE)\b", rest): found = [row for row in found if row[0] != line]
    return {line.partition(": ")[0]: (line, path, number) for line, path, number in found}


def events(tree):
    """Each format of a stored type, and each member that a module reads. The old logs of checks/upgrade prove which type has which."""
    ids = {name: category for source in tree.sources
           for name, category in re.findall(r'struct (\w+): StreamID \{\s*(?:\w+ )?static let category = "(\w+)"', source.code)}
    for source in tree.sources:
        enum = re.search(r'(?s)\benum \w+: DomainEvent\b.*?static let category = (?:"(\w+)"|(\w+)\.category)', source.code)
        for line, match in source.find(r'\bStoredType\(\s*"(\w+)"') if enum else ():
            for number in range(1, formats(balanced(source.code[match.start():])) + 1):
                yield f"event {match[1]} {number}: in streams {enum[1] or ids.get(enum[2])}-…", source.path, line
        for line, match in source.find(r'(?:\b(facts|json)\.)?\bstored\(\s*"(\w+)"'):
            yield f"member {match[2]} of {source.target}, {dict(facts='a fact', json='metadata').get(match[1], 'personal')}", source.path, line


def formats(stored):
    """The number of formats of a stored type: one, and another for each upcaster."""
    upcasters = stored.partition("upcasters: [")[2]
    while (flat := re.sub(r"\{[^{}]*\}|\([^()]*\)", "_", upcasters)) != upcasters: upcasters = flat
    return 1 + len(re.findall(r"[^\s,][^,]*", upcasters.partition("]")[0]))


def listed(tree):
    for path in tree.below(LISTS, ending=".txt"):
        for number, line in enumerate(tree.text(path).splitlines(), 1):
            if not line.startswith("#"): yield path, number, line


@rule
def promises_are_kept(tree):
    kept = promises(tree)
    for path, number, line in listed(tree):
        now, *place = kept.get(line.partition(": ")[0], ("", path, number))
        if now == line: continue
        change = f"is now `{now}`" if now else "is gone"
        instead = INSTEAD.get(line.split(" ")[0], "keep it, and add another one")
        yield *place, f"`{line}` {change}; {instead}. docs/upgrading.md promises it from 1.0.0 on"


def unlisted(tree):
    """What no list has yet. A release must have none."""
    names = {line.partition(": ")[0] for _, _, line in listed(tree)}
    return sorted(line for name, (line, *_) in promises(tree).items() if name not in names)


if __name__ == "__main__":
    tree = Tree.of_checkout()
    version = re.search(r'static let current = "([\d.]+)"', tree.text("Sources/App/Humon.swift"))[1]
    path = f"{LISTS}/{version}.txt"
    lines = sorted(unlisted(tree) + [line for place, _, line in listed(tree) if place == path])
    (ROOT / LISTS).mkdir(exist_ok=True)
    (ROOT / path).write_text(HEADER.format(version) + "\n".join(lines) + "\n", encoding="utf-8")
