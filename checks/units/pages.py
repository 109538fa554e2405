"""The pages that an operator types from: their blocks of commands, and what these print."""

import difflib, re

from process import Failed

# In the order of a machine's life, with the beginnings of the blocks that are not typed: those are marked `bash`, the others `sh`. A
# section at the end of a page that has its own entry is typed there.
PAGES = {
    "docs/install.md": {},
    "docs/deploying.md": {
        "deploy/make-secrets secrets ": "Docker",
        "echo COMPOSE_FILE=": "Docker",
        "echo https://pager.example.org/page ": "Docker",
        "docker compose build\n": "Docker",
    },
    "docs/operating.md": {},
    "docs/backup.md": {},
    "docs/runbooks.md": {},
    "docs/deploying.md#Uninstall": {},
}
BLOCK = re.compile(r"^```(sh|bash)\n(.*?)^```$(?:\n+```text\n(.*?)^```$)?", re.M | re.S)
# The shell ends at a command that fails, but not to the left of these.
HIDING = re.compile(r"&&|\|\||2>/dev/null")
ACCOUNT = re.compile(r"Type\s+everything\b[^.]*?\bas\s+(\w+)")
# A person needs a second for the next block. nginx takes up a new configuration meanwhile: no other block needs the pause.
PAUSE_SECONDS = 1
TRAP = """set -eE -o pipefail; trap 'printf "\\n-- line %s ended with %s: %s\\n" "$LINENO" "$?" "$BASH_COMMAND" >&2' ERR"""


class Block:
    def __init__(self, text, match):
        # The line of its first command.
        self.line = text.count("\n", 0, match.start()) + 2
        self.is_typed, self.text, self.expected = match[1] == "sh", match[2], match[3]


class Page:
    def __init__(self, name, text, untyped, before={}):
        """- before: scripts that run before a block, by its beginning"""
        self.name, self.text = name, text
        self.path, _, section = name.partition("#")
        path, own = self.path, [f"\n## {other.partition('#')[2]}\n" for other in PAGES if other.startswith(f"{name}#")]
        begin, end = text.index(f"\n## {section}\n") if section else 0, min(map(text.index, own), default=len(text))
        blocks = [Block(text, match) for match in BLOCK.finditer(text, begin, end)]
        self.blocks = [block for block in blocks if block.is_typed]
        others = [block for block in blocks if not block.is_typed]
        for block in others:
            if not block.text.startswith(tuple(untyped)):
                raise Failed(f"{path}:{block.line}: the block is not typed; mark it sh, or give the reason in checks/units/pages.py")
        for beginning in untyped:
            if not any(block.text.startswith(beginning) for block in others):
                raise Failed(f"{path}:1: no bash block begins with {beginning!r}; take it out of checks/units/pages.py")
        for block in self.blocks:
            for number, line in enumerate(block.text.split("\n"), block.line):
                if HIDING.search(line):
                    raise Failed(f"{path}:{number}: {HIDING.search(line)[0]} hides a failure; write a line for each command")
        self.before = {block.line: script for block in self.blocks for beginning, script in before.items() if block.text.startswith(beginning)}
        if len(self.before) < len(before):
            raise Failed(f"{path}:1: a block that checks/units/life.py names is not there: {', '.join(map(repr, before))}")
        account = ACCOUNT.search(text)
        if not account:
            raise Failed(f"{path}:1: the page names no account; write Type everything as root")
        self.account = account[1]

    def packages(self):
        lines = [line for block in self.blocks for line in re.findall(r"(?m)^apt-get install (?:--yes )?(.*)$", block.text)]
        return [name for line in lines for name in line.partition("#")[0].split() if "/" not in name]

    def script(self, folder):
        """The blocks for one shell. Each command is in the line that it has in the page, so that bash names that line.

        - folder: has the scripts that run before blocks, each named by its block's line
        """
        lines = [""] * len(self.text.split("\n"))
        lines[0] = TRAP
        previous = ""
        for block in self.blocks:
            pause = f"sleep {PAUSE_SECONDS}; " if "reload nginx" in previous else ""
            previous = block.text
            commands = block.text.removesuffix("\n").split("\n")
            before = f"printf '\\n-- line 0 --\\n'; bash {folder}/{block.line}; " if block.line in self.before else ""
            lines[block.line - 2] = f"{before}{pause}printf '\\n-- line %s --\\n' {block.line}"
            lines[block.line - 1:block.line - 1 + len(commands)] = commands
        return "\n".join(lines) + "\n"

    def judge(self, status, said):
        """Raises Failed if the shell ended badly, or if a block printed something else than the page shows.

        - status: that of the shell; `None` if the time was up before its end
        """
        _, *parts = re.split(r"(?m)^-- line (\d+) --$", said)
        reached = dict(zip(map(int, parts[::2]), parts[1::2]))
        if status != 0:
            last = next((block for block in reversed(self.blocks) if block.line in reached), self.blocks[0])
            printed = parts[-1] if parts else said
            fault = re.search(r"(?m)^-- line (\d+) (ended with .*)$", printed)
            line, how = fault.groups() if fault else (last.line, "did not end in time" if status is None else f"ended with {status}")
            raise Failed(f"{self.path}:{line}: {how}\n{last.text}printed:\n{printed.strip()}")
        for block in self.blocks:
            if block.line not in reached:
                raise Failed(f"{self.path}:{block.line}: the shell ended before this block")
            printed = reached[block.line]
            if block.expected and normalised(block.expected) != normalised(printed):
                lines = difflib.unified_diff(normalised(block.expected), normalised(printed), "the page", "printed", lineterm="")
                raise Failed(f"{self.path}:{block.line}: {block.text}printed something else:\n" + "\n".join(lines))


def normalised(text):
    """The text without the mark of a log, which differs in every run, and without the width of columns."""
    return [re.sub(r" +", " ", re.sub(r"\b(\d+)\.[a-p]{8}\b", r"\1.(mark)", line)).strip() for line in text.strip().splitlines()]
