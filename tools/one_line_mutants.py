"""One-line mutants of C++ sources that clang-format has laid out: small changes of code that a test should notice. For tools/mutate.

Never changed: comments, strings, lines of the preprocessor, static_assert, what is logged or formatted, messages of errors, template
arguments, attributes and memory that is reserved beforehand.
"""
import dataclasses
import random
import re

COMMENT_OR_LITERAL = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\'', re.DOTALL)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
# Calls and statements that hold messages, or that the compiler reads alone.
LEFT_OUT_CALLS = re.compile(r"\b(?:static_assert|assert|spdlog::\w+|fmt::\w+|(?:std::)?format|InputError|RuntimeFault|sizeof|alignas|alignof|decltype|noexcept"
                            r"|if constexpr|\w*_cast<[^;()]*>|\w*reserve|shrink_to_fit|\w*prefetch\w*)\s*(?=\()")
KEPT_INSIDE = re.compile(r"\w*_cast<")  # a cast's argument is code as any other
LEFT_OUT_LINES = re.compile(r"^[ \t]*(?:using|namespace|friend|concept|requires|template|\[\[)\b[^\n]*|\b(?:throw|requires|concept)\b[^;{]*|\[\[[^\]\n]*\]\]"
                            r"|\)[ \w]*= (?:0|default|delete);|\boperator\s*[^\s\w(]+", re.MULTILINE)
TEMPLATE = re.compile(r"\btemplate\s*<|(?<=\w)<(?=[^\s<=])")
NUMBER = re.compile(r"(?<![\w.'])(0[xX][\da-fA-F']+|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)([a-zA-Z]*)(?![\w.])")
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
OTHER_SUM = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "/", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*="}
OTHER_LOGIC = {"&&": "||", "||": "&&"}
OPERATOR = re.compile(r"(?<=[\w)\]}] )(<=|>=|==|!=|&&|\|\||[+*/-]=|[<>+*/%-])(?= [^\s\"']|$)", re.MULTILINE)
STEP = re.compile(r"\+\+(?=[\w*(])|--(?=[\w*(])|(?<=[\w\])])\+\+|(?<=[\w\])])--")
NOT = re.compile(r"(?<![\w)\]])!(?=[\w(])")
RETURN = re.compile(r"\breturn (true|false)(?=;)")
MINIMUM = re.compile(r"\bstd::(?:ranges::)?(min|max)(?=[(<])")
CONDITION = re.compile(r"\bif (?=\()")
# Of a condition that declares or assigns, the negation is another thing.
DECLARES = re.compile(r"\b(?:auto|const)\b|;|[^=!<>]=[^=]")
CALL = re.compile(r"[A-Za-z_](?:[\w:.]|->|\(\)|\[[^\[\]]*\])*\(.*\);$")
NO_CALL = re.compile(r"(?:return|if|for|while|switch|static_assert|throw|delete|assert|else|do|case|static_cast|operator|co_\w+|decltype|sizeof|catch)\b")
NEUTRAL = re.compile(r"reserve\(|shrink_to_fit\(|prefetch\w*\(")
BEFORE_A_CALL = re.compile(r"[ \t]*(?:(?:\} )?else )?(?:(?:if|for|while) \(.*\) )?")
OF_A_TYPE = re.compile(r"\b(?:class|struct|union|enum|namespace)\b[^()]*$")
OF_CODE = re.compile(r"(?:\)|\]|\b(?:const|noexcept|override|final|mutable|else|do|try)|->\s*[\w:<>&* ]+|^)\s*$")


@dataclasses.dataclass(frozen=True)
class Mutant:
    file: str
    line: int  # from 1
    column: int  # from 0
    length: int
    text: str  # what stands there instead
    operator: str

    def line_of(self, source):
        return source.splitlines(keepends=True)[self.line - 1]

    def changed(self, source):
        """The source with this mutant in it."""
        lines = source.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[:self.column] + self.text + line[self.column + self.length:]
        return "".join(lines)


def blanked(text, begin, end):
    """The text with spaces from `begin` to `end`; lines stay where they are."""
    return text[:begin] + re.sub(r"[^\n]", " ", text[begin:end]) + text[end:]


def code_of(text):
    """The text with spaces for comments and for what stands between quotation marks; every other character keeps its place."""
    def blank(found):
        whole = found[0]
        if whole.startswith(("//", "/*")):
            return re.sub(r"[^\n]", " ", whole)
        first, last = whole.index(whole[-1]), len(whole) - 1
        return re.sub(r"[^\n]", " ", whole[:first]) + whole[-1] + re.sub(r"[^\n]", " ", whole[first + 1:last]) + whole[-1]
    return COMMENT_OR_LITERAL.sub(blank, text)


def closing(code, place, marks="()"):
    """The place of the bracket that closes the one at `place`; None where there is none."""
    depth = 0
    for at in range(place, len(code)):
        if code[at] == marks[0]:
            depth += 1
        elif code[at] == marks[1]:
            depth -= 1
            if depth == 0:
                return at
    return None


def end_of_arguments(code, place):
    """The place of the > that closes the < at `place`; None where it is a comparison."""
    depth = 0
    for at in range(place, len(code)):
        if code[at] == "<":
            depth += 1
        elif code[at] == ">" and code[at - 1] != "-":
            depth -= 1
            if depth == 0:
                return at
        elif code[at] in ";{" or code.startswith(("&& ", "||"), at):
            return None
    return None


def changeable(code):
    """The code with spaces for what is not to be changed besides."""
    for found in DIRECTIVE.finditer(code):
        code = blanked(code, *found.span())
    spans = [found.span() for found in LEFT_OUT_LINES.finditer(code)]
    for found in LEFT_OUT_CALLS.finditer(code):
        end = None if KEPT_INSIDE.match(found[0]) else closing(code, found.end())
        spans.append((found.start(), found.end() if end is None else end + 1))
    for found in TEMPLATE.finditer(code):
        end = end_of_arguments(code, found.end() - 1 if found[0] != "<" else found.start())
        if end is not None:
            spans.append((found.start(), end + 1))
    for span in spans:
        code = blanked(code, *span)
    return code


def in_functions(code):
    """Of each line (from 0) whether it begins within a function's body, and not within a type or a list of values."""
    stack, head, inside = [], 0, [False]
    for at, character in enumerate(code):
        if character == "{":
            before = code[head:at].strip()
            stack.append("type" if OF_A_TYPE.search(before) else "code" if OF_CODE.search(before) else "values")
        elif character == "}" and stack:
            stack.pop()
        elif character == "\n":
            inside.append(bool(stack) and stack[-1] == "code")
        if character in ";{}":
            head = at + 1
    return inside


def next_number(digits, suffix):
    """n + 1; of a small quantity that has a scale, its double."""
    if digits[:2].lower() == "0x":
        return f"{int(digits.replace(chr(39), ''), 16) + 1:#x}{suffix}"
    plain = digits.replace("'", "")
    if re.fullmatch(r"\d+", plain):
        return f"{int(plain) + 1}{suffix}" if plain == "0" or plain[0] != "0" else None
    value = float(plain)
    changed = value + 1.0 if value == 0.0 or 0.01 <= value < 1e6 else 2.0 * value
    return f"{changed!r}{suffix}"


def mutants_of(file, text):
    """All mutants of a source, by lines."""
    whole = code_of(text)
    free = changeable(DIRECTIVE.sub(lambda found: blanked(found[0], 0, len(found[0])), whole))
    functions = in_functions(whole)
    whole_lines, free_lines = whole.split("\n"), free.split("\n")
    found = []
    before = ";"  # the last character of code on the lines above
    for number, (line, code) in enumerate(zip(whole_lines, free_lines)):
        def add(begin, end, changed, operator, line_number=number + 1):
            if changed is not None:
                found.append(Mutant(file, line_number, begin, end - begin, changed, operator))
        for match in OPERATOR.finditer(code):
            sign = match[1]
            for table, operator in ((TURNED, "comparison"), (OTHER_LOGIC, "logical"), (OTHER_SUM, "arithmetic")):
                if sign in table and line[match.start() - 2] not in "\"'":
                    add(*match.span(), table[sign], operator)
        for match in STEP.finditer(code):
            if not re.match(r"\s*for\b", code):
                add(*match.span(), "--" if match[0] == "++" else "++", "arithmetic")
        for match in NUMBER.finditer(code):
            add(*match.span(), next_number(match[1], match[2]), "constant")
        for match in NOT.finditer(code):
            add(*match.span(), "", "condition")
        for match in CONDITION.finditer(code):
            end = closing(line, match.end())
            if end is not None and not DECLARES.search(line[match.end() + 1:end]):
                condition = text.split("\n")[number][match.end():end + 1]
                add(match.end(), end + 1, f"(!{condition})", "condition")
        for match in RETURN.finditer(code):
            add(*match.span(1), "false" if match[1] == "true" else "true", "returned value")
        for match in MINIMUM.finditer(code):
            add(*match.span(1), "max" if match[1] == "min" else "min", "minimum")
        if functions[number] and before in ";{}:":
            start = BEFORE_A_CALL.match(line).end()
            if start and line[:start].count("(") != line[:start].count(")"):
                start = len(line) - len(line.lstrip())
            call = line[start:].rstrip()
            if (CALL.fullmatch(call) and not NO_CALL.match(call) and not NEUTRAL.search(call) and call.count("(") == call.count(")")
                    and code[start:start + 1] != " "):
                add(start, start + len(call), "{}", "call")
        before = line.rstrip()[-1:] or before
    return found


def order_of(mutants, seed):
    """The mutants in random order, a line's second mutant after the first of every line; the same for the same seed."""
    choice = random.Random(str(seed))
    turns = {}
    for mutant in choice.sample(mutants, len(mutants)):
        turns.setdefault((mutant.file, mutant.line), []).append(mutant)
    rounds = {}
    for those in turns.values():
        for turn, mutant in enumerate(those):
            rounds.setdefault(turn, []).append(mutant)
    return [mutant for turn in sorted(rounds) for mutant in rounds[turn]]
