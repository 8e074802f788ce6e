#include "verify/code/python_driver.hpp"

namespace maxplus {

const char* const kPythonDriver = R"python(
import json, os, sys

def packed(v):
    if v is None or isinstance(v, (bool, str)):
        return v
    if isinstance(v, int):
        return v if -2**63 <= v < 2**63 else {"__int__": str(int(v))}
    if isinstance(v, float):
        return v if v - v == 0 else {"__float__": str(float(v))}
    if isinstance(v, (list, tuple)):
        return [packed(x) for x in v]
    if isinstance(v, (set, frozenset)):
        return {"__set__": [packed(x) for x in v]}
    if isinstance(v, dict):
        if all(isinstance(k, str) and not k.startswith("__") for k in v):
            return {k: packed(x) for k, x in v.items()}
        return {"__dict__": [[packed(k), packed(x)] for k, x in v.items()]}
    if hasattr(v, "tolist"):
        return packed(v.tolist())
    raise TypeError(type(v).__name__)

def unpacked(v):
    if isinstance(v, list):
        return [unpacked(x) for x in v]
    if isinstance(v, dict):
        if len(v) == 1:
            (tag, x), = v.items()
            if tag == "__tuple__":
                return tuple(unpacked(x))
            if tag == "__set__":
                return set(unpacked(x))
            if tag == "__int__":
                return int(x)
            if tag == "__dict__":
                return {unpacked(a): unpacked(b) for a, b in x}
        return {k: unpacked(x) for k, x in v.items()}
    return v

def main():
    path, name = sys.argv[1:3]
    calls = os.fdopen(os.dup(0), encoding="utf-8")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="backslashreplace")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    sys.argv[:] = [path]
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)
    space = {"__name__": "__main__", "__file__": path}
    exec("import collections, math, heapq, itertools, functools, bisect, re, string, random, operator\n"
         "from collections import *\nfrom heapq import *\nfrom itertools import *\nfrom functools import *\n"
         "from bisect import *\nfrom typing import *", space)
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    failure = None
    try:
        exec(compile(text, path, "exec"), space)
    except BaseException as error:
        failure = type(error).__name__
    for line in calls:
        try:
            if failure is not None:
                raise RuntimeError(failure)
            function = space.get(name)
            if function is None:
                function = getattr(space["Solution"](), name)
            answer = {"value": packed(function(*unpacked(json.loads(line))))}
            text = json.dumps(answer, allow_nan=False)
        except BaseException as error:
            text = json.dumps({"error": failure or type(error).__name__})
        answers.write(text + "\n")
        answers.flush()

main()
)python";

}  // namespace maxplus
