"""The files of a checkout as the rules of scripts/lint read them: targets, Swift sources and pages."""
import collections, dataclasses, functools, pathlib, re, subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = []


def rule(function):
    """A rule is a function of the tree that yields its violations: file, line, and what is wrong; what to do."""
    RULES.append(function)
    return function


def line_at(text, index):
    return text.count("\n", 0, index) + 1


def line_of(text, part):
    """The line of the first place of a part; 1 without one."""
    return line_at(text, max(text.find(part), 0))


@dataclasses.dataclass(frozen=True)
class Target:
    """A target of Package.swift, with its dependencies among the targets."""
    name: str
    dependencies: frozenset
    folder: str
    line: int

    @property
    def is_library(self):
        """Whether it knows nothing of Humon, so that another product could use it."""
        return self.folder.startswith("Libraries/")

    @property
    def is_product(self):
        """Whether it is neither an example nor a part of the tests."""
        return self.is_library or self.folder.startswith("Sources/") or self.folder == "HumonClient/Sources"


ReadModel = collections.namedtuple("ReadModel", "module type name tables")


class Tree:
    """The files of a checkout, by their paths from its root. The tests make trees of a few texts."""

    def __init__(self, paths, read, root=None):
        self.paths, self.root = sorted(paths), root
        self.folders = {"/".join(path.split("/")[:end]) for path in paths for end in range(1, path.count("/") + 1)}
        self.known = {*paths, *self.folders}
        # What a rule looked for in vain. Such a rule would check nothing.
        self.missing = set()
        self.read = functools.cache(read)

    @classmethod
    def of_checkout(cls):
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        paths = {path for path in listed if path and (ROOT / path).exists()}
        return cls(paths, lambda path: (ROOT / path).read_text(encoding="utf-8", errors="replace"), ROOT)

    def exists(self, path):
        return path.rstrip("/") in self.known

    def text(self, path):
        if path in self.known and path not in self.folders: return self.read(path)
        self.missing.add(path)
        return ""

    def below(self, *folders, ending=""):
        """The files below folders with this ending of their names."""
        self.missing.update(folder for folder in folders if folder not in self.folders)
        prefixes = tuple(folder + "/" for folder in folders)
        return [path for path in self.paths if path.startswith(prefixes) and path.endswith(ending)]

    @functools.cached_property
    def pages(self):
        return [Page(path, self.text(path)) for path in self.paths if path.endswith(".md")]

    @functools.cached_property
    def settings(self):
        """The names of the settings. A test holds the page equal to the program. humon-off-site has one more, which is none of humon."""
        page = self.text("docs/settings.md")
        return {*re.findall(r"(?m)^\| `(\w+)`", page), *re.findall(r"`(\w+_FILE)`", page), "HUMON_BACKUP_DAYS"}

    @functools.cached_property
    def targets(self):
        """The targets of the manifest without its tests, by name. A function of the manifest gives a target its folder."""
        manifest = self.text("Package.swift")
        found = {}
        for match in re.finditer(r'(?:\.(?:target|executableTarget|systemLibrary)\(\s*name: |\b(?:headers|library|part|support)\(\s*)"(\w+)"', manifest):
            name, body = match[1], balanced(manifest[match.start():])
            # A function has the dependencies behind the name.
            listed = re.search(r"(?:dependencies: |\"\w+\",\s*)\[([^\]]*)\]", re.sub(r"\.product\([^)]*\)", "", body))
            path = re.search(r'\bpath: "([^"]*)"', body)
            places = [path[1]] if path else [f"Libraries/{name}/Sources", f"Libraries/C/{name}", f"Tests/Support/{name}", f"Sources/{name}"]
            dependencies = frozenset(re.findall(r'"(\w+)"', listed[1])) if listed else frozenset()
            folder = next(filter(self.exists, places), places[-1])
            found[name] = Target(name, dependencies, folder, line_at(manifest, match.start()))
        return found

    @functools.cached_property
    def products(self):
        return {name: target for name, target in self.targets.items() if target.is_product}

    @functools.cached_property
    def sources(self):
        """The Swift files of the libraries and of the product."""
        folders = {target.folder for target in self.products.values()}
        return [Source(path, self.text(path)) for path in self.below(*folders, ending=".swift")]

    @functools.cached_property
    def read_models(self):
        models = []
        for source in self.sources:
            name = re.search(r'static let name = "(\w+)"', source.text)
            for match in re.finditer(r"\bstruct (\w+): Projection\b", source.text) if name else ():
                tables = frozenset(re.findall(r"CREATE TABLE (\w+) \(", source.text))
                models.append(ReadModel(source.target, match[1], name[1], tables))
        return models


def balanced(text):
    """The beginning of a text up to the parenthesis that closes its first one."""
    depth = 0
    for match in re.finditer(r"[()]", text):
        depth += 1 if match[0] == "(" else -1
        if depth == 0: return text[:match.end()]
    return text


IMPORT = re.compile(r"(?m)^(?:@\w+(?:\([^)]*\))? +)*(?:(?:public|package|internal|private|fileprivate) +)?import +"
                    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias) +)?(\w+)")


class Source:
    """A Swift file of a target."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        self.target = "HumonClient" if path.startswith("HumonClient/") else (path.split("/") + [""])[1]
        # Without the lines that are comments; the numbers of the others stay.
        self.code = re.sub(r"(?m)^[ \t]*//.*$", "", text)

    def find(self, pattern):
        for match in re.finditer(pattern, self.code): yield line_at(self.code, match.start()), match

    def violations(self, pattern, what):
        for line, match in self.find(pattern): yield self.path, line, f"`{' '.join(match[0].split())}` " + what

    def imports(self):
        return [(line, match[1]) for line, match in self.find(IMPORT)]


class Page:
    """A Markdown page."""

    def __init__(self, path, text):
        self.path, self.lines = path, text.splitlines()
        fence = None
        # Each line with its number and the language of its code block; None outside of one.
        self.marked = []
        for number, line in enumerate(self.lines, 1):
            if line.lstrip(" ").startswith("```"):
                fence = None if fence is not None else line.strip().strip("`")
            else:
                self.marked.append((number, fence, line))
        self.prose = [(number, line) for number, language, line in self.marked if language is None]

    @functools.cached_property
    def anchors(self):
        """The anchors of the headings, as GitHub makes them."""
        headings = [line.lstrip("# ").lower() for _, line in self.prose if line.startswith("#")]
        return {"".join(c for c in heading if c.isalnum() or c in " -_").replace(" ", "-") for heading in headings}

    def links(self):
        """The links to files and headings of the repository: line, text, path and anchor."""
        for number, line in self.prose:
            for match in re.finditer(r"\]\(([^)#:\s]*)(?:#([^)\s]*))?\)", line): yield number, match[0][1:], match[1], match[2]

    def commands(self):
        """The lines of shell and the code in sentences, each with its line. A code may continue on the next line."""
        for number, language, line in self.marked:
            if language in ("sh", "bash"): yield number, line.strip().removeprefix("$ ")
        prose = dict(self.prose)
        text = "\n".join(prose.get(number, "") for number in range(1, len(self.lines) + 1))
        for match in re.finditer(r"`([^`\n]+(?:\n[^`\n]+)?)`", text): yield line_at(text, match.start()), " ".join(match[1].split())


def idle_exceptions(tree, path, names):
    """The exceptions of a rule that excuse nothing any more. The trees of the tests need none."""
    for name in sorted(names) if tree.root else ():
        yield path, line_of(tree.text(path), name), f"nothing needs the exception {name}; remove it"
