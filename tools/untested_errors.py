#!/usr/bin/env python3
"""Which errors of bad input have a message that shares no text with any test: nobody has seen them thrown.

  tools/untested_errors.py [--all] [ROOM ...]     "FILE:LINE: message" of each, and how many there are; --all: the others too

An error is a `throw InputError` with text of its own, or a call that hands text to a function that throws it (`fail`, `require`, ...).
It shares text with a test if all words of found or of expected between two placeholders stand in a test, if a test has a string of
two words at least that is a part of the message, or "found F; expected E" that the message can be. Texts of where, which tests hold for
other reasons, do not count beside others.
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from one_line_mutants import closing, code_of  # noqa: E402

SUFFIXES = (".cpp", ".hpp", ".cu", ".cuh")
LITERAL = re.compile(r'R"(\w*)\((.*?)\)\1"|"((?:[^"\\\n]|\\.)*)"', re.DOTALL)
PYTHON_LITERAL = re.compile(r'"""(.*?)"""|"((?:[^"\\\n]|\\.)*)"|\'((?:[^\'\\\n]|\\.)*)\'', re.DOTALL)
THROW = re.compile(r"\bthrow InputError(?=\()")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
# What parts a regular expression or a format that a test holds.
PARTS = re.compile(r"\{[^{}]*\}|\\+[dwSs][+*]?|\.\*|\.\+|\[\^?[^\]]*\][+*]|[()|]")
SPACE = re.compile(r"\s+")


def plain(text):
    """One line without escapes."""
    return SPACE.sub(" ", re.sub(r"\\n", " ", text).replace("\\", "")).strip()


def has_words(text):
    return re.search(r"[A-Za-z]{3}", text) is not None


def literals(text, pattern=LITERAL):
    """The strings in a piece of a source; those that follow each other are one."""
    found, end = [], None
    for match in pattern.finditer(text):
        value = next((group for group in match.groups()[::-1] if group is not None), "")
        if end is not None and not text[end:match.start()].strip(" \n\tfr"):
            found[-1] += value
        else:
            found.append(value)
        end = match.end()
    return found


def arguments_of(text, code):
    """The arguments between the brackets of a call, from its text and its text without strings."""
    parts, depth, begin = [], 0, 1
    for at, character in enumerate(code):
        depth += (character in "([{") - (character in ")]}")
        if (character == "," and depth == 1) or (depth == 0 and character == ")"):
            parts.append(text[begin:at])
            begin = at + 1
    return parts


def scopes_at(code, place):
    """The heads of the blocks around a place, innermost first."""
    heads, depth = [], 0
    for at in range(place - 1, -1, -1):
        if code[at] == "}":
            depth += 1
        elif code[at] == "{":
            depth -= 1
            if depth < 0:
                depth = 0
                begin = max(code.rfind(mark, 0, at) for mark in ";}{") + 1
                heads.append(code[begin:at])
    return heads


def function_with(code, place, names):
    """The function around a place that has one of these parameters; empty where there is none."""
    for head in scopes_at(code, place):
        of_lambda = re.search(r"(\w+) = \[[^\]]*\]\s*\(([^()]*)\)", head)
        of_function = re.search(r"(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)[^()]*$", head)
        for found in (of_lambda, of_function):
            if found and names & set(re.findall(r"(\w+)\s*(?:=[^,]*)?(?:,|$)", found[2])):
                return found[1]
    return ""


class Sources:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts, self.codes = {}, {}
        for folder in sorted(path for path in self.root.iterdir() if path.is_dir()):
            if folder.name not in ("tests", "build", "tools") and not folder.name.startswith("."):
                for path in sorted(folder.rglob("*")):
                    if path.suffix in SUFFIXES:
                        name = path.relative_to(self.root).as_posix()
                        self.texts[name] = path.read_text(encoding="utf-8")
                        self.codes[name] = code_of(self.texts[name])

    def sites(self, name, pattern):
        """(place, arguments) of each call of a pattern."""
        text, code = self.texts[name], self.codes[name]
        for found in pattern.finditer(code):
            end = closing(code, found.end())
            if end is not None:
                yield found.start(), arguments_of(text[found.end():end + 1], code[found.end():end + 1])

    def errors(self):
        """(file, line, texts of the message)"""
        passed_on = []  # (file, function) that hand texts to InputError
        found = {}
        for name, text in self.texts.items():
            for place, arguments in self.sites(name, THROW):
                self.note(found, passed_on, name, place, arguments, arguments[1:] if len(arguments) == 3 else arguments)
        done = set()
        while passed_on:
            name, function = passed_on.pop()
            if (name, function) in done:
                continue
            done.add((name, function))
            header = name.rpartition(".")[0] + ".hpp"
            is_declared = header in self.codes and re.search(rf"\b{function}\(", self.codes[header])
            called = re.compile(rf"(?<![\w:~])(?<!void )(?:\w+::)*{function}(?=\()")
            for other, text in self.texts.items():
                if other == name or (is_declared and f'"{header}"' in text):
                    for place, arguments in self.sites(other, called):
                        if not self.codes[other][max(0, place - 5):place].endswith(("auto ", "void ", "::")):
                            self.note(found, passed_on, other, place, arguments, arguments)
        return [(name, line, texts) for (name, line), texts in sorted(found.items())]

    def note(self, found, passed_on, name, place, arguments, said):
        texts = [value for argument in said for value in literals(argument) if has_words(PLACEHOLDER.sub("", value))]
        if texts:
            found.setdefault((name, self.texts[name].count("\n", 0, place) + 1), []).extend(texts)
            return
        function = function_with(self.codes[name], place, {word for argument in said for word in re.findall(r"\b[a-z]\w*\b", argument)})
        if function:
            passed_on.append((name, function))


class Tests:
    def __init__(self, root):
        strings = []
        for path in sorted((pathlib.Path(root) / "tests").rglob("*")):
            if path.suffix in (*SUFFIXES, ".py"):
                strings += literals(path.read_text(encoding="utf-8"), PYTHON_LITERAL if path.suffix == ".py" else LITERAL)
        self.text = "\n".join(plain(text) for text in strings)
        self.pairs = [pair for text in strings for pair in re.findall(r"found (?!.*found )(.*?); expected ?(.*)$", plain(text))]
        self.parts = {part for text in strings for raw in PARTS.split(text) if len((part := plain(raw).strip(" ;:,.")).split()) >= 2 and len(part) >= 8}

    def know(self, texts):
        pieces = [plain(piece).strip(" ;:,.") for text in texts for piece in PLACEHOLDER.split(text)]
        words = [piece for piece in pieces if has_words(piece)]
        wide = [piece for piece in words if len(piece.split()) >= 2 or len(piece) >= 8] or words
        if any(piece in self.text and re.search(rf"(?<!\w){re.escape(piece)}(?!\w)", self.text) for piece in wide):
            return True
        if len(texts) == 2 and has_words(PLACEHOLDER.sub("", texts[0])):
            found = re.compile(".+".join(re.escape(plain(piece)).replace(r"\ ", " *") for piece in PLACEHOLDER.split(f" {texts[0]} ")).strip())
            begin = plain(PLACEHOLDER.split(texts[1])[0])
            if any(found.fullmatch(f) and (begin.startswith(e) or e.startswith(begin)) for f, e in self.pairs):
                return True
        messages = "\n".join(plain(text) for text in texts)
        return any(part in messages for part in self.parts)


def untested(root, sources=None):
    """(errors that no test knows, those that one knows), each (file, line, message)"""
    tests, unknown, known = Tests(root), [], []
    for name, line, texts in (sources or Sources(root)).errors():
        (known if tests.know(texts) else unknown).append((name, line, " | ".join(plain(text) for text in texts)))
    return unknown, known


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("rooms", metavar="ROOM", nargs="*")
    options.add_argument("--all", action="store_true")
    arguments = options.parse_args()
    unknown, known = (([error for error in errors if not arguments.rooms or error[0].split("/")[0] in arguments.rooms])
                      for errors in untested(pathlib.Path(__file__).resolve().parents[1]))
    for name, line, message in unknown:
        print(f"{name}:{line}: {message}")
    for name, line, message in known if arguments.all else ():
        print(f"tested: {name}:{line}: {message}")
    print(f"{len(unknown)} of {len(unknown) + len(known)} errors of bad input share no text with a test")


if __name__ == "__main__":
    main()
