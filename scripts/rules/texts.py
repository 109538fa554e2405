"""The rules about the texts of the map page: the languages have the same, the page uses them all and has no others."""
import json, re

from .tree import line_of, rule

PAGE, TEXTS = "Sources/CEmbeddedPage/page", "Sources/CEmbeddedPage/texts"
# The table of English, which the other languages translate.
FIRST = f"{TEXTS}/en.json"
# The plural categories of each language for whole numbers. Source: CLDR, supplemental/plurals.xml, type cardinal.
CATEGORIES = {"de": ["one", "other"], "en": ["one", "other"]}
KEY, PART = r"[a-z]+(?:\.[a-z_0-9]+)+", r"(?:[a-z_0-9]+|\$\{[^}]*\})"


def texts(tree, path):
    """The texts of a language by key, as a list of pairs: a key may stand there twice."""
    return json.loads(tree.text(path) or "{}", object_pairs_hook=lambda pairs: pairs) or []


def placeholders(value):
    """What stands for values: in all forms of a text, and in the form `other`. The form `one` may do without its number."""
    forms = dict(value) if isinstance(value, list) else {"other": value}
    return tuple(set(re.findall(r"\{(\w+)\}", text)) for text in (" ".join(forms.values()), forms.get("other", "")))


@rule
def languages_have_the_same_texts(tree):
    first = dict(texts(tree, FIRST))
    for path in tree.below(TEXTS, ending=".json"):
        table, whole = texts(tree, path), tree.text(path)
        language, known = path.rpartition("/")[2].removesuffix(".json"), dict(table)
        if not re.fullmatch("[a-z]{2,3}", language): yield path, 1, "the server finds no texts of this name; use a language without a region"
        if language not in CATEGORIES: yield path, 1, f"nothing says which plurals {language} has; add them to scripts/rules/texts.py"
        for key in sorted(first.keys() ^ known.keys()): yield path, 1, f"only one of this file and {FIRST} has {key}; make the two equal"
        keys = [key for key, _ in table]
        for key in sorted({key for key in keys if keys.count(key) > 1}): yield path, line_of(whole, f'"{key}"'), f"{key} is there twice; remove one"
        for key, value in table:
            line, other = line_of(whole, f'"{key}"'), first.get(key, value)
            if isinstance(value, list) != isinstance(other, list): yield path, line, f"{key} is a plural in one language only; make it one in all"
            elif len({frozenset(names) for names in placeholders(value) + placeholders(other)}) > 1:
                yield path, line, f"{key} has other values than in {FIRST}, or not all of them in `other`; make them equal"
            if isinstance(value, list) and [name for name, _ in value] != CATEGORIES.get(language):
                yield path, line, f"{key} has not the plurals of {language}; write {', '.join(CATEGORIES.get(language, []))}"
            forms = [text for _, text in value] if isinstance(value, list) else [value]
            if not all(isinstance(text, str) and text.strip() == text != "" for text in forms):
                yield path, line, f"{key} is empty, or has a space at an end; write a text"
        if known.get("page.direction") not in ("ltr", "rtl"): yield path, 1, "page.direction says not how the language runs; write ltr or rtl"


def code(tree, path):
    """A module without its comments; the numbers of the lines stay."""
    return re.sub(r"(?m)^\s*(?://|/?\*).*$", "", tree.text(path))


@rule
def the_page_uses_every_text(tree):
    first = dict(texts(tree, FIRST))
    names = "|".join({key.partition(".")[0] for key in first}) or "page"
    literal = re.compile(rf'"({KEY})"|`((?:{names}|[a-z]+(?=\.\$\{{))(?:\.{PART})+)`')
    used = set()
    for path in tree.below(PAGE, ending=".js"):
        text = code(tree, path)
        for match in literal.finditer(text):
            # Any other text with dots is a key only as the first argument of `text` or `has`.
            is_argument = re.search(r"\b(?:text|has)\([^()]*$", text[:match.start()])
            key = match[1] or re.sub(r"\$\{[^}]*\}", "[a-z_0-9]+", match[2].replace(".", r"\."))
            if match[1] and not is_argument and match[1].partition(".")[0] not in names.split("|"): continue
            found = {name for name in first if re.fullmatch(key, name)}
            used |= found
            if not found: yield path, text.count("\n", 0, match.start()) + 1, f"{match[1] or match[2]} is no text; add it to {TEXTS}"
    page = f"{PAGE}/index.html"
    for match in re.finditer(r"\{\{(\w+\.[\w.]+)\}\}", tree.text(page)):
        if match[1] not in first: yield page, line_of(tree.text(page), match[0]), f"{match[1]} is no text; add it to {TEXTS}"
        used.add(match[1])
    for path in tree.below("Sources/Web", ending=".swift"):
        text = code(tree, path)
        used |= {key for key in first if any(key.startswith(start) for start in re.findall(r'"([a-z.]+\.)\\\(', text))}
        for match in re.finditer(rf'(texts\[|row\(\s*)?"({KEY})"', text):
            used.add(match[2])
            if match[1] and match[2] not in first:
                yield path, text.count("\n", 0, match.start()) + 1, f"{match[2]} is no text; add it to {TEXTS}"
    for key in sorted(first.keys() - used): yield FIRST, line_of(tree.text(FIRST), f'"{key}"'), f"the page does not use {key}; remove it"


# Keys, geometries, a library and the relations of a link look like texts.
NAMES = "(?!(?:Enter|Escape|Feature|Polygon|Leaflet|nofollow ugc noopener noreferrer)[\"'`])"
# A sentence or a capital word at the start of a literal, or words behind a value. An error for the console has a status. One or two words
# in lower case may be any name; MapLanguageTests finds them where they are shown.
SENTENCE = rf"[ “←(]*{NAMES}(?:[A-Z][a-z']*(?:[\"'`.…:!?]|,? (?:\$\{{|[A-Za-z“]))|(?:[a-z]+,? ){{3}}[a-z])"
OWN = re.compile(rf"[\"'`]({SENTENCE}|(?<=`)[^`\n]*\$\{{[^`\n]*\}}”?:? (?!has status)[A-Za-z]{{2,}}(?![\w-]))")


@rule
def the_page_has_no_text_of_its_own(tree):
    for path in tree.below(PAGE, ending=".js"):
        text = code(tree, path)
        for match in OWN.finditer(text):
            yield path, text.count("\n", 0, match.start()) + 1, f"“{match[1].strip()}” is not translated; move the text to {TEXTS}"
    path = f"{PAGE}/index.html"
    shown = re.sub(r'<[^>]*translate="no">[^<]*|<[^>]*>|\{\{[\w.]+\}\}', "", tree.text(path))
    attributes = re.findall(r'(?:aria-label|title|alt|placeholder)="([^"{]+)"', tree.text(path))
    for word in re.findall(r"[A-Za-z]\w+", shown) + attributes:
        yield path, line_of(tree.text(path), word), f"“{word}” is not translated; move the text to {TEXTS}"


@rule
def styles_run_in_both_directions(tree):
    path = f"{PAGE}/page.css"
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), tree.text(path), flags=re.S)
    sided = r"[\w-]*-(?:left|right)(?:-\w+)?\s*:|(?<![\w-])(?:left|right)\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)"
    # Four values, of which the second and the fourth, right and left, differ.
    shorthand = r"(?:margin|padding|inset)\s*:\s*[^\s;]+ ([^\s;]+) [^\s;]+ (?!\1[;\s}])[^\s;}]+\s*[;}]"
    for match in re.finditer(f"{sided}|{shorthand}", text):
        yield path, text.count("\n", 0, match.start()) + 1, f"`{match[0]}` names a side; use inline-start or inline-end"
