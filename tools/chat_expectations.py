#!/usr/bin/env python3
# Renders conversations with Jinja, set up as transformers sets it up, and writes what tests/text/chat_template_test.cpp
# expects: one JSON object {template, format, messages, generation, thinking, text} a line.
#
#   tools/chat_expectations.py FOLDER > tests/data/chat/expected.jsonl
#
# FOLDER holds published templates as NAME.jinja; those in tests/data/chat, and llama3.jinja, llama3.1.jinja and
# llama3.2.jinja, whose licence keeps them out of this project. Needs jinja2.
import json
import pathlib
import sys

from jinja2.sandbox import ImmutableSandboxedEnvironment


def message(role, content):
    return {"role": role, "content": content}


SYSTEM, USER, ANSWER, TOOL = "system", "user", "assistant", "tool"
CONVERSATIONS = [
    [message(USER, "What is 2+2?")],
    [message(SYSTEM, "You are terse."), message(USER, "Hi")],
    [message(SYSTEM, ""), message(USER, "")],
    [message(USER, "a"), message(ANSWER, "b"), message(USER, "c")],
    [message(USER, "  blanks \n\n"), message(ANSWER, "\n\n x \t"), message(USER, "\n")],
    [message(SYSTEM, "  s \n"), message(USER, "q"), message(ANSWER, "r")],
    [message(USER, "q"), message(ANSWER, "<think>\nhm\n</think>\n\nr"), message(USER, "next")],
    [message(USER, "q"), message(ANSWER, "<think>\n\nhm\n\n</think>\n\n\nr \n")],
    [message(USER, "q"), message(ANSWER, "no thought </think> r </think>\ns")],
    [message(USER, "q"), message(ANSWER, "r"), message(ANSWER, "s")],
    [message(USER, "q"), message(ANSWER, "<think>a</think>r"), message(ANSWER, "s")],
    [message(USER, "q"), message(ANSWER, ""), message(USER, "Grüße, 世界 🙂 \u2003\u00a0")],
    [message(USER, "first"), message(SYSTEM, "late"), message(USER, "second")],
    [message(SYSTEM, "one"), message(SYSTEM, "two"), message(USER, "q"), message(ANSWER, "r")],
    [message(ANSWER, "I begin"), message(USER, "q")],
    [message(USER, "<tool_response>x</tool_response>"), message(ANSWER, "<think>t</think>r"), message(USER, "q")],
]
TOOLS = [
    [message(USER, "q"), message(ANSWER, "call"), message(TOOL, "1"), message(TOOL, "2"), message(ANSWER, "r")],
    [message(USER, "q"), message(ANSWER, "<think>t</think>call"), message(TOOL, "1"), message(ANSWER, "<think>u</think>r")],
]


def main():
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                                extensions=["jinja2.ext.loopcontrols"])
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.jinja")):
        template = environment.from_string(path.read_text(encoding="utf-8"))
        format_name = path.stem.split("_")[0]
        begin = {"llama3": "<|begin_of_text|>", "llama3.1": "<|begin_of_text|>", "llama3.2": "<|begin_of_text|>",
                 "deepseek-r1": "<｜begin▁of▁sentence｜>"}.get(format_name, "")
        conversations = CONVERSATIONS + (TOOLS if format_name.startswith(("qwen2.5", "qwen3", "chatml")) else [])
        for messages in conversations:
            for generation in (False, True):
                for thinking in ((True, False) if format_name == "qwen3" and generation else (True,)):
                    text = template.render(messages=messages, add_generation_prompt=generation, bos_token=begin,
                                           enable_thinking=thinking)
                    print(json.dumps({"template": path.stem, "messages": messages, "generation": generation,
                                      "thinking": thinking, "begin": begin, "text": text}))


if __name__ == "__main__":
    main()
