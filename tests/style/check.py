#!/usr/bin/env python3
# Checks the rules of the house that no compiler knows; prints `ok`, `not ok` or `skip`, one line a finding.
#
#   check.py PROJECT             the project, then the self-test
#   check.py PROJECT --no-self-test
#
# A rule is a function from a project to its findings (file, line, why). The self-test writes, for every rule, a small
# project that obeys it and one that breaks it, and expects no finding in the first and one in the second.
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import unnamed

MAX_LINES = 450
MAX_SHOWN = 25
SOURCE = (".hpp", ".cpp", ".cu", ".cuh")
SCRIPT = (".sh", ".sbatch", ".py", ".cmake", ".toml")
TEXT = SOURCE + SCRIPT + (".txt", ".md", ".json")


class Project:
    """The files of a folder, as git sees them where it can: names from the root, and their lines."""

    def __init__(self, root):
        self.root = root
        self.names = sorted(name for name in self._list() if os.path.isfile(os.path.join(root, name)))
        self._lines = {}

    def _list(self):
        if os.path.exists(os.path.join(self.root, ".git")):
            listing = subprocess.run(["git", "-c", "safe.directory=*", "-C", self.root, "ls-files", "-z", "--cached",
                                      "--others", "--exclude-standard"], capture_output=True)
            if listing.returncode == 0:
                return set(os.fsdecode(name) for name in listing.stdout.split(b"\0") if name)
        found = set()
        for folder, below, files in os.walk(self.root):
            relative = os.path.relpath(folder, self.root)
            below[:] = [name for name in below if not name.startswith(("build", ".git")) and name != "runs"]
            found.update(os.path.normpath(os.path.join(relative, name)) for name in files)
        return found

    def lines(self, name):
        if name not in self._lines:
            with open(os.path.join(self.root, name), encoding="utf-8", errors="replace") as file:
                self._lines[name] = file.read().splitlines()
        return self._lines[name]

    def under(self, *folders, ends=SOURCE):
        return [name for name in self.names
                if name.startswith(tuple(folder + "/" for folder in folders)) and name.endswith(ends)]

    def is_script(self, name):
        return name.endswith((".sh", ".sbatch")) or name == ".ci/run"


def includes(project, name):
    for number, line in enumerate(project.lines(name), 1):
        match = re.match(r'\s*#\s*include\s*"([^"]+)"', line)
        if match:
            yield number, match.group(1)


def read_layers(project):
    """{folder: folders it may include, itself among them}, and the findings in the file itself."""
    rows, findings = {}, []
    for number, line in enumerate(project.lines("src/LAYERS"), 1):
        match = re.match(r"([a-z]+):(.*)$", line)
        if not match:
            if line.strip() and not line.startswith("#"):
                findings.append(("src/LAYERS", number, f"cannot read the row '{line}'"))
            continue
        folder, below = match.group(1), match.group(2).split()
        for other in below:
            if other not in rows:
                findings.append(("src/LAYERS", number, f"'{folder}' names '{other}', which has no row above it"))
        rows[folder] = set(below) | {folder}
    return rows, findings


def backends(project):
    folders = {name.split("/")[1] for name in project.under("kernels", ends=TEXT) if name.count("/") > 1}
    return folders - {"ops"}


def check_layers(project):
    rows, findings = read_layers(project)
    yield from findings
    behind = backends(project)
    for name in project.under("src", "kernels"):
        parts = name.split("/")
        if name == "src/main.cpp":
            allowed = {"run"}
        elif parts[0] == "src":
            allowed = rows.get(parts[1])
            if len(parts) < 3 or allowed is None:
                yield name, 1, "lies in no folder that has a row in src/LAYERS"
                continue
        elif parts[1] == "ops":
            allowed = rows.get("ops", set())
        else:
            allowed = rows.get("ops", set()) | {parts[1]}
        for number, target in includes(project, name):
            first = target.split("/")[0]
            if "/" not in target:
                yield name, number, f'"{target}": includes are written from src/ or kernels/'
            elif first in behind and first not in allowed:
                yield name, number, f'"{target}": nobody includes a backend\'s folder'
            elif first not in allowed:
                yield name, number, f'"{target}": {" ".join(sorted(allowed))} is all that src/LAYERS allows here'


def check_tests_include_no_backend(project):
    """Only tests/kernels looks inside one, to run every instruction set."""
    behind = backends(project)
    for name in project.under("tests"):
        if name.startswith("tests/kernels/"):
            continue
        for number, target in includes(project, name):
            if target.split("/")[0] in behind:
                yield name, number, f'"{target}": tests see kernels/ops only, so that they fit every backend'


def check_include_cycles(project):
    graph = {}
    for folder in ("src", "kernels"):
        for name in project.under(folder):
            graph[name] = []
            for number, target in includes(project, name):
                for base in ("src/", "kernels/"):
                    if base + target in project.names:
                        graph[name].append((number, base + target))
    state = {}

    def visit(name, path):
        state[name] = "open"
        for number, target in graph.get(name, []):
            if state.get(target) == "open":
                yield name, number, "a cycle: " + " -> ".join(path[path.index(target):] + [target])
            elif target not in state:
                yield from visit(target, path + [target])
        state[name] = "done"

    for name in graph:
        if name not in state:
            yield from visit(name, [name])


def check_pragma_once(project):
    for name in project.under("src", "kernels", "tests", ends=(".hpp", ".cuh")):
        if not any(line.strip() == "#pragma once" for line in project.lines(name)[:3]):
            yield name, 1, "no #pragma once at its head"


def check_purpose(project):
    """A source, or its test, may begin with its own header instead, where the purpose stands."""
    for name in project.names:
        if name.startswith("tests/data/"):
            continue
        head = [line for line in project.lines(name)[:3] if line.strip() != "#pragma once" and line[:2] != "#!"]
        first = head[0] if head else ""
        stem = re.sub(r"(_mpi)?(_test)?\.\w+$", "", os.path.basename(name))
        if name.endswith(".cpp") and re.match(r'#include "(.*/)?' + stem + r'\.hpp"', first):
            continue
        if name.endswith(SOURCE) and not re.match(r"//\s*\S", first):
            yield name, 1, "does not begin with a comment that says what it is for"
        elif (name.endswith(SCRIPT) or project.is_script(name)) and not re.match(r'#\s*\S|"""|title\s*=', first):
            yield name, 1, "does not begin with a comment that says what it is for"


def check_length(project):
    for name in project.under("src", "kernels", "tests", "jobscripts", "cmake", ends=SOURCE + SCRIPT):
        if not name.startswith("tests/data/") and len(project.lines(name)) > MAX_LINES:
            yield name, MAX_LINES, f"{len(project.lines(name))} lines; at most {MAX_LINES}: one file, one concern"


def grep(project, names, pattern, why):
    expression = re.compile(pattern)
    for name in names:
        for number, line in enumerate(project.lines(name), 1):
            match = expression.search(line)
            if match:
                yield name, number, f"'{match.group(0)}': {why}"


def everything(project):
    return [name for name in project.names if not name.startswith("tests/data/")
            and (name.endswith(TEXT) or project.is_script(name))]


def check_no_promises(project):
    words = r"\b(TO" + "DO|FIX" + r"ME|X" + r"XX)\b"
    yield from grep(project, everything(project), words, "finish it, or leave it out")


def check_no_using_namespace(project):
    yield from grep(project, project.under("src", "kernels", "tests"), r"^\s*using\s+namespace\b.*",
                    "write the names in full, or a `using` for one name in a source")


def check_no_machine_paths(project):
    folders = "tmp|root|home|scratch|mnt"
    yield from grep(project, everything(project), r"(?<![\w.$}/*])/(?:" + folders + r")/[\w.$*{-]*",
                    "a path of one machine; take it from the environment, mktemp or temp_directory_path()")


def without_comments(text):
    """The text with comments and literals blanked, line breaks kept."""
    pattern = r'R"(\w*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])\''
    return re.sub(pattern, lambda match: re.sub(r"[^\n]", " ", match.group(0)), text, flags=re.S)


def check_no_default_arguments(project):
    """At namespace or class level every '=' inside parentheses is a default argument; bodies are skipped."""
    for name in project.under("kernels/ops", ends=(".hpp",)):
        text = re.sub(r"^\s*#[^\n]*", "", without_comments("\n".join(project.lines(name))), flags=re.M)
        scopes, head, depth = [], 0, 0
        for index, char in enumerate(text):
            if char == "{":
                opens = re.search(r"\b(namespace|struct|class|union)\b[^()=]*$", text[head:index])
                scopes.append(bool(opens))
            elif char == "}" and scopes:
                scopes.pop()
            elif char in "()" and all(scopes):
                depth += 1 if char == "(" else -1
            elif (char == "=" and depth > 0 and all(scopes) and text[index + 1] != "="
                  and text[index - 1] not in "=!<>"):
                yield name, text.count("\n", 0, index) + 1, "a default argument; kernels have none"
            if char in "{};":
                head = index + 1


def check_unnamed(project):
    """Folders whose sources are compiled in bundles: those of src/, and the serial tests of all of tests/ but the kernels'."""
    folder_of = {}
    for name in project.under("src", ends=(".cpp",)) + project.under("tests", ends=("_test.cpp",)):
        folder = "/".join(name.split("/")[:2])
        if folder != "tests/kernels" and not name.endswith("_mpi_test.cpp") and name.count("/") >= 2:
            folder_of[name] = folder
    owners = {}
    for name, folder in folder_of.items():
        for line, given in set(unnamed.in_unnamed_namespaces(without_comments("\n".join(project.lines(name))))):
            owners.setdefault((folder, unnamed.passes_alike(given)), {}).setdefault(name, line)
    for name, folder in folder_of.items():
        for number, line in enumerate(project.lines(name), 1):
            for local in re.findall(r"^\s+(?:static )?const(?:expr)? .*?\b(\w+) = ", line):
                other = sorted(set(owners.get((folder, local), {})) - {name})
                if other:
                    yield name, number, f"'{local}' would hide the one of {other[0]} in a bundle"
    for (_, given), places in sorted(owners.items()):
        if len(places) > 1:
            (first, _), (second, line) = sorted(places.items())[:2]
            yield second, line, f"'{given}' stands in the unnamed namespace of {first} too; sources of a folder are compiled in bundles"


def check_scripts_parse(project):
    for name in project.names:
        if project.is_script(name) and not name.startswith("tests/data/"):
            result = subprocess.run(["bash", "-n", os.path.join(project.root, name)], capture_output=True, text=True)
            if result.returncode:
                yield name, 1, result.stderr.strip().splitlines()[0]


def check_format(project):
    """One finding for all files: the formatter's versions differ in details, and one run of it mends everything."""
    names = project.under("src", "kernels")
    result = subprocess.run(["clang-format", "--style=file", "--dry-run", "--Werror", *names], cwd=project.root,
                            capture_output=True, text=True)
    differing = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, flags=re.M)))
    if differing:
        yield differing[0], 1, f"{len(differing)} files differ from clang-format -i: {' '.join(differing)}"
    elif result.returncode:
        yield ".clang-format", 1, result.stderr.strip()[:200]


RULES = {
    "layers": check_layers,
    "tests_include_no_backend": check_tests_include_no_backend,
    "include_cycles": check_include_cycles,
    "pragma_once": check_pragma_once,
    "purpose": check_purpose,
    "length": check_length,
    "no_promises": check_no_promises,
    "no_using_namespace": check_no_using_namespace,
    "no_machine_paths": check_no_machine_paths,
    "no_default_arguments": check_no_default_arguments,
    "unnamed": check_unnamed,
    "scripts_parse": check_scripts_parse,
    "format": check_format,
}


def absent_tool(rule):
    if rule == "format" and shutil.which("clang-format") is None:
        return "clang-format is not installed"
    return None


def check_project(root):
    project = Project(root)
    for rule, check in RULES.items():
        if absent_tool(rule):
            print(f"skip style.{rule}: {absent_tool(rule)}")
            continue
        findings = list(check(project))
        for name, line, why in findings[:MAX_SHOWN]:
            print(f"not ok style.{rule} {name}:{line}: {why}")
        if len(findings) > MAX_SHOWN:
            print(f"# style.{rule}: and {len(findings) - MAX_SHOWN} more")
        if not findings:
            print(f"ok style.{rule}")


def main():
    root = os.path.abspath(sys.argv[1])
    check_project(root)
    if "--no-self-test" not in sys.argv:
        import self_test
        self_test.run(Project, RULES, absent_tool)


main()
