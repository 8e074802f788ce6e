# Proves that every rule of check.py can fail, and that it stays silent on a project that obeys it.
#
# GOOD is a small project without a finding. A case is one file put into it, and the rule that must then speak; cases
# marked None must be let through by all rules.
import os
import tempfile

GOOD = {
    ".clang-format": "BasedOnStyle: Google\n",
    "src/LAYERS": "# rows\nbase:\ntensor: base\nops: base tensor\nrun: base tensor ops\n",
    "src/main.cpp": '// Starts.\n#include "run/go.hpp"\n\nint main() { return 0; }\n',
    "src/base/error.hpp": "#pragma once\n// Errors.\n",
    "src/base/once.cpp": "// Once.\nnamespace {\nconstexpr int kB = 1;\nvoid f(int, std::string_view text) { g(text); }\n}  // namespace\n",
    "src/tensor/view.hpp": '#pragma once\n// Views.\n\n#include "base/error.hpp"\n',
    "src/run/go.hpp": '#pragma once\n// Goes.\n\n#include "ops/matmul.hpp"\n',
    "kernels/ops/matmul.hpp": '#pragma once\n// Products.\n\n#include "tensor/view.hpp"\n\nnamespace m {\n'
                              'void multiply(int m, int n);\ninline int f(int a) {\n  for (int i = 0; i < a; ++i) {\n'
                              '  }\n  return a;\n}\n}  // namespace m\n',
    "kernels/kokkos/team.hpp": "#pragma once\n// A team.\n",
    "kernels/kokkos/matmul.cpp": '// Bodies.\n#include "ops/matmul.hpp"\n\n#include "kokkos/team.hpp"\n',
    "tests/base/error_test.cpp": '// Tests.\n#include "base/error.hpp"\n\nnamespace {\nconstexpr int limit = 1;\n}\n',
    "jobscripts/go.sh": "#!/usr/bin/env bash\n# Goes.\necho go\n",
}

CASES = [
    ("an include upwards", "layers", "src/base/log.cpp", '// Log.\n#include "tensor/view.hpp"\n'),
    ("a backend included", "layers", "src/run/go.cpp", '// Goes.\n#include "kokkos/team.hpp"\n'),
    ("main includes more than run", "layers", "src/main.cpp", '// Starts.\n#include "base/error.hpp"\n'),
    ("an include without a folder", "layers", "src/base/log.cpp", '// Log.\n#include "error.hpp"\n'),
    ("a folder without a row", "layers", "src/extra/log.cpp", "// Log.\n"),
    ("a kernel header that knows the run", "layers", "kernels/ops/norm.hpp", '#pragma once\n// N.\n#include "run/go.hpp"\n'),
    ("a row that names one below", "layers", "src/LAYERS", "base: tensor\ntensor: base\nops: base tensor\nrun: ops\n"),
    ("a test of a backend", "tests_include_no_backend", "tests/base/a_test.cpp", '// A.\n#include "kokkos/team.hpp"\n'),
    ("a cycle", "include_cycles", "src/base/error.hpp", '#pragma once\n// E.\n#include "tensor/view.hpp"\n'),
    ("no pragma", "pragma_once", "src/base/log.hpp", "// Log.\n"),
    ("no purpose in a source", "purpose", "src/base/log.cpp", "int x;\n"),
    ("no purpose in a header", "purpose", "src/base/log.hpp", "#pragma once\n\nint x;\n"),
    ("no purpose in a script", "purpose", "jobscripts/a.sh", "#!/bin/sh\nset -e\n"),
    ("a long file", "length", "src/base/log.cpp", "// Log.\n" + "int f();\n" * 450),
    ("work left for later", "no_promises", "src/base/log.cpp", "// Log. TO" "DO: more\n"),
    ("using a namespace", "no_using_namespace", "src/base/log.hpp", "#pragma once\n// Log.\nusing namespace std;\n"),
    ("a path of a machine", "no_machine_paths", "src/base/log.cpp", '// Log.\nconst char* path = "/ho' 'me/me/x";\n'),
    ("a path of a machine in a script", "no_machine_paths", "jobscripts/a.sh", "#!/bin/sh\n# A.\nrm /t" "mp/x\n"),
    ("a default argument", "no_default_arguments", "kernels/ops/norm.hpp",
     "#pragma once\n// N.\nnamespace m {\nvoid norm(int rows,\n          float epsilon = 1e-5f);\n}\n"),
    ("a script that bash cannot read", "scripts_parse", "jobscripts/a.sh", "#!/bin/bash\n# A.\nif true; then\n"),
    ("another format", "format", "src/base/log.cpp", "// Log.\nint   f( int a ){return a ;}\n"),
    ("one name in two unnamed namespaces", "unnamed", "src/base/twice.cpp",
     "// T.\nnamespace {\nvoid f(int a, std::string_view b) { a = 1; }\n}\n"),
    ("one constant in two unnamed namespaces", "unnamed", "src/base/twice.cpp", "// T.\nnamespace {\nconstexpr int kA = 1, kB = f(2);\n}\n"),
    ("a local constant that hides one of another source", "unnamed", "src/base/twice.cpp", "// T.\nint f() {\n  constexpr int kB = 2;\n  return kB;\n}\n"),
    ("a local constant of a test that hides one of another test", "unnamed", "tests/base/twice_test.cpp",
     '#include "base/error.hpp"\n\nvoid f() {\n  const double limit = 2;\n  g(limit);\n}\n'),
    ("an overload that no call can choose", "unnamed", "src/base/twice.cpp",
     "// T.\nnamespace {\nvoid f(const int& a, const std::string& b) { g(a, b); }\n}\n"),
    ("an overload", None, "src/base/twice.cpp", "// T.\nnamespace {\nvoid f(int a) { a = 1; }\nint kLocal = 1;\n}  // namespace\n"),
    ("a name that another folder has too", None, "src/tensor/f.cpp", "// F.\nnamespace {\nconstexpr int kB = 1;\n}  // namespace\n"),
    ("a loop in a kernel header", None, "kernels/ops/norm.hpp",
     "#pragma once\n// N.\nnamespace m {\nstruct Shape {\n  int rows = 0;\n  bool operator==(const Shape& other) const;\n};\n}  // namespace m\n"),
    ("a relative path", None, "jobscripts/a.sh", '#!/bin/sh\n# A.\nls "$root/t' 'mp/x" runs/t' 'mp/\n'),
    ("a source that begins with its header", None, "src/base/error.cpp", '#include "base/error.hpp"\n\nint x;\n'),
    ("a test that begins with what it tests", None, "tests/base/error_test.cpp", '#include "base/error.hpp"\n\nint x;\n'),
    ("a kernel test that looks inside", None, "tests/kernels/a_test.cpp", '// A.\n#include "kokkos/team.hpp"\n'),
    ("a namespace alias", None, "tests/base/a_test.cpp", "// A.\nnamespace fs = std::filesystem;\nusing std::string;\n"),
]


def findings(project_type, rules, absent_tool, files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = os.path.join(root, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        project = project_type(root)
        return {rule: list(check(project)) for rule, check in rules.items() if not absent_tool(rule)}


def run(project_type, rules, absent_tool):
    clean = findings(project_type, rules, absent_tool, GOOD)
    for rule, found in clean.items():
        if found:
            print(f"not ok style.self_test.{rule}: speaks on a project without fault: {found[0]}")
    for title, rule, name, text in CASES:
        label = f"style.self_test {title}"
        if rule is not None and absent_tool(rule):
            print(f"skip {label}: {absent_tool(rule)}")
            continue
        result = findings(project_type, rules, absent_tool, {**GOOD, name: text})
        speaking = {other for other, found in result.items() if found}
        if rule is None and speaking - {"format"}:
            print(f"not ok {label}: {', '.join(sorted(speaking))} should be silent")
        elif rule is not None and rule not in speaking:
            print(f"not ok {label}: {rule} did not notice it")
        else:
            print(f"ok {label}")
    proven = {rule for _, rule, _, _ in CASES}
    for rule in rules:
        if rule not in proven:
            print(f"not ok style.self_test.{rule}: no case proves that it can fail")
