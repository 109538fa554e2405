"""The rules about the sources: targets, imports, code, comments, and members that nothing uses."""
import collections, re

from .tree import Source, balanced, idle_exceptions, line_at, rule

# Targets and imports

# Apps take these alone: no target of the server uses them, and they use none of it.
SEPARATE = {"HumonClient"}
# The targets around the modules, each with its forbidden dependencies. Every other target of the product is a module.
SURROUNDINGS = {
    "HTTP": {"Postgres", "EmbeddedPostgres", "Web", "App", "humon"},
    "Web": {"HTTP", "Postgres", "EmbeddedPostgres", "App", "humon"},
    "App": {"humon"}, "humon": set(),
}


def forbidden(target, libraries):
    if target.name in SEPARATE: return target.dependencies
    if target.is_library: return target.dependencies - libraries
    if target.name in SURROUNDINGS: return target.dependencies & (SURROUNDINGS[target.name] | SEPARATE)
    return target.dependencies & (SURROUNDINGS.keys() | SEPARATE | {"HTTPServer", "EmbeddedPostgres"})


@rule
def dependencies_point_one_way(tree):
    libraries = {target.name for target in tree.targets.values() if target.is_library}
    for target in tree.targets.values():
        if target.is_product:
            for name in sorted(forbidden(target, libraries)):
                yield "Package.swift", target.line, f"{target.name} depends on {name}; move the code, see the table of ARCHITECTURE.md"


@rule
def targets_have_folders(tree):
    for target in tree.targets.values():
        if not tree.exists(target.folder):
            yield "Package.swift", target.line, f"{target.name} has no folder {target.folder}; add it, or remove the target"
    roots = ("Sources", "Libraries/C", "Libraries")
    for folder in sorted(tree.folders - {"Libraries/C"}):
        root, _, name = folder.rpartition("/")
        if root in roots and name not in tree.products:
            yield "Package.swift", 1, f"the folder {folder} has no target; add one, or remove the folder"


@rule
def imports_are_dependencies(tree):
    for source in tree.sources:
        own = tree.products.get(source.target)
        for line, name in source.imports():
            if name in tree.products and own and name not in own.dependencies:
                yield source.path, line, f"{source.target} imports {name}, which is no dependency; remove it, or add it to Package.swift"


# Packages that few files import: the name, where it may stand, and what to do elsewhere. The first entry of a name counts.
FEW_IMPORT = [
    # HTTP, Web and App share buffers and addresses with the server.
    (r"NIOCore|NIOHTTP1", lambda source: source.target in ("HTTPServer", "HTTP", "Web", "App"), "only HTTPServer listens"),
    (r"NIO\w*", lambda source: source.target == "HTTPServer", "only HTTPServer listens"),
    (r"FoundationNetworking", lambda source: source.target == "HumonClient",
     "only the doctor asks a server: see docs/security.md"),
    (r"ArgumentParser", lambda source: source.target == "App", "only App knows of command lines"),
]


@rule
def few_files_import_these_packages(tree):
    for source in tree.sources:
        for line, name in source.imports():
            _, allowed, what = next((entry for entry in FEW_IMPORT if re.fullmatch(entry[0], name)), (None, lambda source: True, ""))
            if not allowed(source): yield source.path, line, f"{source.target} imports {name}; {what}"


# Sources

# The files that date things. Everything else reads a clock that never jumps.
TELLERS_OF_TIME = {
    "Libraries/EventStore/Sources/Dependencies.swift", "Libraries/HTTPServer/Sources/Messages/HTTPDate.swift",
    "Libraries/Telemetry/Sources/Logging/LogLine.swift", "Sources/App/Metrics/ProcessMetrics.swift",
    "Sources/App/Doctor/ServerChecks.swift",
}
# Forbidden code: the sources to which a rule applies, a pattern, and what is wrong with a match.
FORBIDDEN_CODE = [
    (lambda source: source.path not in TELLERS_OF_TIME,
     r"\bDate(?:\.now|\(\))|\bCLOCK_REALTIME\b|\bgettimeofday\b|\btime\(nil\)|\bSuspendingClock\b",
     "reads the clock of the wall, which may jump; measure with ContinuousClock, and take dates from Dependencies"),
    # Each time a closure is taken out of a `Mutex` by itself, the compiler wraps the closure again and leaves the wrapped one inside,
    # until a call overflows the stack. A closure in a struct or in an array is not wrapped.
    (lambda source: True, r"Mutex<(?!\[)[^>]*->", "keeps a closure by itself, which grows with each use; put it into a struct"),
    (lambda source: not source.path.endswith("Projection.swift") and source.target not in ("EventStore", "Postgres"),
     r"INSERT INTO|UPDATE \\\(|DELETE FROM|TRUNCATE", "writes a read model; only a projection may"),
    (lambda source: source.target != "HTTPServer" and source.path != "Sources/App/Doctor/IndexCheck.swift",
     r"\bOutgoingRequest\b", "sends a request; only the doctor asks a server: see docs/security.md"),
    (lambda source: source.target != "EventStore", r"\brecorded_events\b", "is the table of the log; ask the event store"),
]


@rule
def code_keeps_to_its_part(tree):
    for source in tree.sources:
        for applies, pattern, what in FORBIDDEN_CODE:
            if applies(source): yield from source.violations(pattern, what)


@rule
def sql_names_only_own_read_models(tree):
    """SQL names the schema of a read model as `\\(identifier: UsersProjection.schema)`. Its literal name is `users_v1`."""
    known = {model.module for model in tree.read_models if model.tables}
    for source in tree.sources:
        if source.path.startswith("Sources/") and source.path.endswith("Projection.swift") and source.target not in known:
            yield source.path, 1, "this rule finds no read model and no tables here; declare `struct NAME: Projection`, or correct the rule"
    for source in tree.sources:
        for model in tree.read_models:
            names = sorted({*model.tables, model.name})
            if model.module == source.target or not any(name in source.code for name in [*names, model.type]): continue
            tables = "|".join(names)
            pattern = (rf"\b{model.type}\s*\.\s*(?:schema|self)\b|\b{model.name}_v\d"
                       rf'|\b(?:FROM|JOIN|INTO|UPDATE|TABLE|TRUNCATE|REFERENCES|ONLY|SCHEMA)\s+"?(?:{tables})\b'
                       rf'|\b(?i:from|join|into|update|table|truncate)\s+"?(?:{tables})"?\.')
            yield from source.violations(pattern, f"is a read model of {model.module}; ask that module")


@rule
def no_type_has_the_name_of_a_target(tree):
    for source in tree.sources:
        for line, match in source.find(r"\b(?:struct|class|enum|actor|protocol|typealias) (\w+)"):
            if match[1] in tree.products: yield source.path, line, f"{match[1]} is a target, and hides it; give the type another name"


@rule
def stored_types_are_listed(tree):
    """`EventLog` cannot append a domain event if the list lacks its stored type."""
    for source in tree.sources:
        if source.target == "EventStore" or not re.search(r"\benum \w+: DomainEvent\b", source.code): continue
        listed = set(re.findall(r'StoredType\(\s*"(\w+)"', source.code))
        for line, match in source.find(r'"([A-Z]\w*)"'):
            if match[1] not in listed: yield source.path, line, f"{match[1]} is not in storedTypes; add it, so that it can be appended"


@rule
def files_have_telling_names(tree):
    for source in tree.sources:
        for noun in ("Utils", "Helpers", "Core.swift", "Common", "Manager"):
            if noun in source.path: yield source.path, 1, f"{noun.removesuffix('.swift')} tells nothing; name the file by what it declares"


@rule
def comments_say_what_protects_unchecked_types(tree):
    for source in tree.sources:
        lines = source.text.split("\n")
        for number, (before, line) in enumerate(zip(["", *lines], lines), 1):
            if "@unchecked Sendable {" in line and "`@unchecked`:" not in before:
                yield source.path, number, "nothing says what protects it; write `@unchecked`: and the reason into the comment above"


@rule
def public_declarations_say_what_they_throw(tree):
    start = re.compile(r"\s*(?:@\w+\s+)*((?:[a-z]+\s+)*)(func|init|subscript|var)\b")
    for source in tree.sources:
        lines = source.text.split("\n")
        in_public_body = False
        for index, line in enumerate(lines):
            # The members of a public protocol or extension are public without a modifier.
            if line.startswith(("public protocol ", "public extension ")): in_public_body = True
            if line.startswith("}"): in_public_body = False
            match = start.match(line) if in_public_body or "public " in line else None
            if not match: continue
            modifiers = match[1].split()
            if "public" not in modifiers and (not in_public_body or {"package", "internal", "private"}.intersection(modifiers)): continue
            signature = "\n".join([line[match.end():], *lines[index + 1:index + 21]])
            if throws_errors(signature, match[2]) and not says_what_it_throws(lines[:index]):
                yield source.path, index + 1, "it throws, and no `- Throws:` says what; add the line to its comment"


def throws_errors(signature, keyword):
    """Whether the source behind `func`, `init`, `subscript` or `var` throws. A parameter may be a closure that throws."""
    if keyword in ("func", "init"):
        parameters = signature.find("(")
        rest = signature[parameters:][len(balanced(signature[parameters:])):] if parameters >= 0 else ""
        return re.match(r"\s*(?:async\s+)?throws\b", rest)
    return re.match(r"\{\s*get\s+(?:async\s+)?throws\b", signature[max(signature.find("{"), 0):])


def says_what_it_throws(lines):
    for line in reversed(lines):
        text = line.strip()
        if text.startswith("/// - Throws: "): return True
        if not text.startswith(("@", "///")): return False
    return False


@rule
def listed_files_have_the_unsafe_code(tree):
    """The list gives the reason for each file. Strict memory safety (SE-0458) makes each expression say `unsafe`."""
    path = "unsafe.txt"
    text = tree.text(path)
    listed = {row[1]: line_at(text, row.start()) for row in re.finditer(r"(?m)^(\S+\.swift): \S.*$", text)}
    for source in tree.sources:
        if source.path not in listed:
            yield from source.violations(r"\bunsafe\b|@safe\b|\bUnsafe(?:Mutable)?(?:Raw)?(?:Buffer)?Pointer\b",
                                         f"is unsafe; use Span, or give the reason in {path}")
    for file, line in listed.items():
        if "unsafe " not in tree.text(file): yield path, line, f"{file} has no unsafe code; remove the line"
        target = tree.products.get(Source(file, "").target)
        if target and not target.is_library and target.name not in (SURROUNDINGS.keys() | SEPARATE) - {"HTTP"}:
            yield path, line, f"{file} belongs to a module; a module has no unsafe code, so move it into a library"


@rule
def tests_ask_the_kernel_for_the_end_of_a_process(tree):
    """Foundation may learn of the end of a process long afterwards: see `Process.endStatus`."""
    for path in tree.below("Tests", "Libraries", "HumonClient", ending=".swift"):
        source = Source(path, tree.text(path))
        yield from source.violations(r"\.(?:waitUntilExit\(|terminationHandler\b)", "may wait for ever; use untilEnd()")


# Members that nothing uses

# What no source of ours names, and why it is there all the same.
USED_ELSEWHERE = {
    "SwiftNIO calls it": "InboundIn InboundOut OutboundIn OutboundOut channelInactive channelRead channelReadComplete"
    " channelWritabilityChanged errorCaught handlerAdded handlerRemoved userInboundEventTriggered",
    "ArgumentParser calls it": "validate",
    "libpq declares it": "PGRES_TUPLES_OK",
    "the compiler calls it": "appendInterpolation",
    "print and dump call it": "customMirror debugDescription",
    "the benchmark of peers calls it": "withModules",
}
DECLARING = {"func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias", "associatedtype"}
# A comment, but not the rest of a URL in a literal; or a word, with what tells how it is used.
WORD = re.compile(r"(?<!:)//[^\n]*|(?P<word>[A-Za-z0-9_\u0080-\U0010ffff]+)`?(?=(?P<rest><[^(]*\(|.|\n|$))")
LABEL = re.compile(r"[ \n]*(\)|[A-Za-z0-9_\u0080-\U0010ffff]*)([^,)\n]*)")


def label(text, start, is_declared):
    """The first label of the list behind a parenthesis; `_` if it has none; None for an empty list, or if the first value has a default."""
    match = LABEL.match(text, start)
    name, rest = match.groups()
    if name == ")": return None
    if not name or not rest.startswith((":", " ") if is_declared else ":"): return "_"
    return None if is_declared and "=" in rest else name


def unused_members(texts, shown=""):
    """The declared names that nothing else mentions, neither a text nor the code that a page shows: file, line, name and label.

    A function is known by its name and its first label, every other declaration by its name. Two declarations of one name hide each
    other, so this finds most unused members, and names none that is in use.
    """
    declared, used = [], collections.defaultdict(set)
    for path, text in texts:
        previous = ""
        for match in WORD.finditer(text):
            if not (word := match["word"]): continue
            rest, before = match["rest"], text[max(match.start() - 1, 0)]
            is_declared = before in " `" and (previous in DECLARING or previous == "case" and word[0].isalpha() and rest not in (":", "."))
            first = label(text, match.end("rest"), is_declared) if rest.endswith("(") else None
            if is_declared:
                declared.append((path, text, match.start(), word, first if previous == "func" else None))
            else:
                used[word].add(first or "")
            previous = word
    for word in re.findall(r"\w+", shown): used[word].add("")
    for path, text, index, name, first in declared:
        # Without a label there may be a trailing closure, or the function itself is passed on.
        if name not in used or first and not used[name] & {first, ""}: yield path, line_at(text, index), name, first


@rule
def production_uses_every_member(tree):
    texts = [(source.path, source.text) for source in tree.sources if source.target not in SEPARATE]
    # Another program may use what the page of a library shows.
    pages = [page.path for page in tree.pages if re.fullmatch(r"Libraries/\w+/README.md", page.path)]
    found = list(unused_members(texts, " ".join(code for path in pages for code in tree.text(path).split("`")[1::2])))
    allowed = " ".join(USED_ELSEWHERE.values()).split()
    for path, line, name, _ in found:
        if name not in allowed: yield path, line, f"nothing in production uses {name}; remove it"
    yield from idle_exceptions(tree, "scripts/rules/sources.py", set(allowed) - {name for _, _, name, _ in found})
