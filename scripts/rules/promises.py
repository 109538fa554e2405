"""The rule about promises: what a release stored, or told other programs, stays and keeps its meaning.

Each file of docs/promises lists what its release was the first to promise, one promise a line. `make docs NAME=promises` writes it.
"""
import hashlib, re

from .tree import ROOT, Tree, balanced, line_at, line_of, rule

LISTS = "docs/promises"
HEADER = """# What release {} was the first to promise: see docs/upgrading.md. `make docs NAME=promises` adds lines and takes none away.
# A line may change if its meaning got wider or got other words. It may go with a setting that warned for a minor release, and with a table,
# a column or a function that no program of the last two minor releases uses.
"""
STORE = "Libraries/EventStore/Sources"
ARCHIVE = f"{STORE}/Archive"
# The promises of a file: a pattern, and the line that a match makes. The pages are those that tests hold equal to the program.
FOUND = [
    ("Sources/Events/EventText.swift", r'(?m)^    case (?:\w+ = ")?(\w+)"?$', "member {} of Events, personal"),
    (f"{ARCHIVE}/LogExport.swift", r'"(\w+)":', "archive {} in an export"),
    (f"{ARCHIVE}/LogImport.swift", r"\b(\w+) (uuid|text|bigint|integer|smallint|json)(?=[,\n)])", "archive {} in an import: {}"),
    (f"{ARCHIVE}/LogImport.swift", r"->> '(\w+)'", "archive {} in an import: text"),
    (f"{STORE}/Erasure/ErasureFile+Lines.swift", r'"(\w+)": (?:\.string|JSON)', "erasure list {}"),
    ("Libraries/Postgres/Sources/Client/Migrator.swift", r"(?m)^ +(\w+) (text|timestamptz)\b", "column {} of humon.migrations: {}"),
    ("db/grants.sql", r"\b(log_(?:app|reader))\b", "role {}"),
    ("docs/settings.md", r"(?m)^\| `(\w+)` \| ([^|]*) \|", "setting {}: {}"),
    ("docs/settings.md", r"`(\w+_FILE)`", "setting {}: a path"),
    # The meaning of a code is the beginning of its cell.
    ("docs/cli.md", r"(?m)^\| (\d[\d, ]*) \| ([^|;:]*[^|;: ])", "exit {}: {}"),
    ("Sources/App/Terminal/Exit.swift", r"static let (\w+): Int32 = (\d+)", "exit {}: {}"),
    ("docs/openapi.yaml", r"- const: (\w+)\n +x-status: (\d+)\n", "problem {}: {}"),
    ("docs/openapi.yaml", r"- const: (\w+)\n +description: ", "problem {} of a field"),
    ("docs/openapi.yaml", r"- name: (\S+)\n +in: (?:query|header)", "parameter {}"),
    ("docs/metrics.md", r"(?m)^\| `(\w+)` \| (counter|gauge|histogram) \| ([^|]*) \|", "metric {}: {} {}"),
    ("docs/metrics.md", r"`(humon_(?:backup|certificate)_\w+)`", "metric {} of a script"),
]
# What to do instead of a change, by the first word of the promise.
INSTEAD = {
    "event": "keep reading it, and add an upcaster to the next format: CONTRIBUTING.md, A stored format",
    "member": "keep reading it, and write another one in the next format: CONTRIBUTING.md, A stored format",
    "migration": "restore it, and add another migration: CONTRIBUTING.md, A migration",
    "table": "keep it with its columns, and add others, which an older program need not fill",
    "function": "keep its parameters, and add others with a default at the end, or another function",
    "setting": "keep it for one more minor release, with a warning, beside a new one",
}
# What makes a table another one for a program that does not know the change.
OTHER = re.compile(r"(?i)\b(?:RENAME|DROP|SET SCHEMA|SET NOT NULL|AS \w+|ALTER (?:COLUMN )?\w+ (?:SET DATA )?TYPE|ADD (?:CONSTRAINT|CHECK|UNIQUE|PRIMARY|FOREIGN"
                   r"|EXCLUDE)|ADD (?:COLUMN )?\w+ (?!.*\b(?:DEFAULT|GENERATED)\b).*\b(?:NOT NULL|PRIMARY KEY))\b")


def promises(tree):
    """What this checkout keeps: the line of each name, and the file and line that say so."""
    found = [*events(tree), *commands(tree), *api(tree)]
    function = r"FUNCTION (log\.\w+)\(([^)]*)\)\s+RETURNS (TABLE \([^)]*\)|(?:SETOF )?[\w.]+(?:\[\])?)"
    functions = [(path, function, "function {}: ({}) returns {}") for path in tree.below("db/functions", ending=".sql")]
    for path, pattern, promise in FOUND + functions:
        text = tree.text(path)
        for match in re.finditer(pattern, text):
            found.append((promise.format(*(" ".join(group.split()) for group in match.groups())), path, line_at(text, match.start())))
    for path in tree.below("db/migrations", ending=".sql"):
        text = tree.text(path)
        found.append((f"migration {path.rpartition('/')[2]}: sha256 {hashlib.sha256(text.encode()).hexdigest()}", path, 1))
        for statement in re.finditer(r"(?i)\b(CREATE|ALTER|DROP) (TABLE|SEQUENCE|SCHEMA) ([^;]*)", text):
            verb, kind, rest = statement[1].upper(), statement[2].lower(), " ".join(re.sub("--.*", "", statement[3]).replace('"', "").split())
            names = [f"{kind} log.{name}" for name in re.findall(r"\blog\.(\w+)", rest)]
            if verb == "CREATE": found += [(name, path, line_at(text, statement.start())) for name in names[:1]]
            elif kind == "schema" or verb == "DROP" or any(map(OTHER.search, re.split(r",(?![^(]*\))", rest))):
                found = [row for row in found if row[0] not in names and (kind != "schema" or not re.match("(table|sequence) ", row[0]))]
    return {line.partition(": ")[0]: (line, path, number) for line, path, number in found}


def commands(tree):
    """Each command of humon, and each of its options."""
    path = "docs/cli.md"
    text = tree.text(path)
    for row in re.finditer(r"(?m)^\| `(humon [^`]+)` \| [^|]* \| ([^|]*) \|$", text):
        yield f"command {row[1]}", path, line_at(text, row.start())
        own, _, missing = row[2].partition("not `")
        for option in re.findall(r"--[\w-]+", own) + [option for option in ("--database", "--json") if option not in missing]:
            yield f"option {option} of {row[1]}", path, line_at(text, row.start())


def api(tree):
    """Each route of the OpenAPI document, each of its parameters, and each field of a schema."""
    path, keys = "docs/openapi.yaml", []
    for number, line in enumerate(tree.text(path).splitlines(), 1):
        if not (key := re.match(r'( *)"?([\w/{}.-]+)"?:(?: (.*)|$)', line)): continue
        keys[len(key[1]) // 2:] = [key[2]]
        match keys:
            case ["paths", route, "get" | "put" | "post" | "patch" | "delete" as method]: yield f"route {method.upper()} {route}", path, number
            case ["components", "parameters", _, "name"]: yield f"parameter {key[3]}", path, number
            case ["components", "schemas", schema, "properties", field]: yield f"field {field} of {schema}", path, number


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
