"""Names that two sources of one folder give to different things in their unnamed namespaces.

Builds from nothing compile the sources of a folder in bundles (cmake/QuickBuild.cmake); which of them meet there depends on how many there
are, so a name may be given only once a folder.
"""
import re

HEAD = re.compile(r"\bnamespace\s*\{")
TYPE = re.compile(r"^(?:template\s*<.*?>\s*)?(?:struct|class|enum(?:\s+class)?|union)\s+(?:\[\[.*?\]\]\s*)?(\w+)")


def end_of(text, start):
    """Behind the bracket that closes the one at `start`."""
    depth, closing = 0, {"{": "}", "(": ")"}[text[start]]
    for index in range(start, len(text)):
        if text[index] == text[start]:
            depth += 1
        elif text[index] == closing:
            depth -= 1
            if depth == 0:
                return index + 1
    return len(text)


def heads(text, begin, end):
    """(place, text, whether a body follows) of every declaration directly in [begin, end); bodies and initialisers are left out."""
    start, index, kept = begin, begin, ""
    while index < end:
        char = text[index]
        if char == "{":
            yield start, kept.strip(), True
            index = end_of(text, index)
            start, kept = index, ""
        elif char == ";":
            if kept.strip():
                yield start, kept.strip(), False
            index += 1
            start, kept = index, ""
        else:
            kept += char
            index += 1


def parts(text):
    """Split at the commas outside of all brackets."""
    found, depth, kept = [], 0, ""
    for char in text:
        depth += (char in "(<[{") - (char in ")>]}")
        if char == "," and depth == 0:
            found.append(kept)
            kept = ""
        else:
            kept += char
    return [part.strip() for part in found + [kept] if part.strip()]


def passes_alike(signature):
    """One spelling for parameters between which a call cannot choose: by value or by reference, a text or a view of one."""
    return re.sub(r"const(?=[A-Z_a-z:])|&|string_view", lambda found: "string" if found.group() == "string_view" else "", signature)


def parameter_type(text):
    words = re.sub(r"\s*=.*", "", text).strip()
    return re.sub(r"\s+", "", re.sub(r"(?<=[\s&*>])\w+(\[\w*\])?$", "", words)) if re.search(r"[\s&*>]\w+(\[\w*\])?$", words) else words


def names(head):
    """What a declaration names: a type or variable by its name, a function by name and parameter types."""
    head = re.sub(r"\s+", " ", re.sub(r"\[\[.*?\]\]", "", head)).strip()
    match = TYPE.match(head)
    if match and "(" not in head.split(match.group(1), 1)[1]:
        return [match.group(1)]
    if not head or head.startswith(("using ", "namespace ", "extern ", "static_assert", "friend ", "TEST", "INSTANTIATE", "struct ", "class ")):
        return []
    head = re.sub(r"^template ?<.*?> ?", "", head)
    before = head.split("=", 1)[0]
    call = re.search(r"(\w+|operator\S+) ?\(", before)
    if call and not re.match(r"(const|constexpr|inline|static|thread_local)?\s*\w+ ?\(", head):
        if "::" in before[:call.start(1)].split(" ")[-1]:
            return []  # a member's definition
        inside = before[call.end():end_of(before + ")", call.end() - 1) - 1]
        return [call.group(1) + "(" + ", ".join(parameter_type(part) for part in parts(inside)) + ")"]
    if call:
        return []
    found = []
    for part in parts(head):
        variable = re.search(r"(\w+)\s*(\[[^\]]*\]\s*)*$", part.split("=", 1)[0].strip())
        if variable:
            found.append(variable.group(1))
    return found


def in_unnamed_namespaces(text):
    """(line, name) of everything declared directly in an unnamed namespace; comments and literals must be blanked."""
    text = re.sub(r"^\s*#[^\n]*", "", text, flags=re.M)
    for opening in HEAD.finditer(text):
        begin = opening.end() - 1
        for place, head, _ in heads(text, begin + 1, end_of(text, begin) - 1):
            line = text.count("\n", 0, place + len(text[place:]) - len(text[place:].lstrip())) + 1
            for name in names(head):
                yield line, name
