"""Rules of the house that can be read off the sources. Each gives {file: [what was found, ...]}."""
import re

# Whose business the kinds of pairs are; elsewhere nobody compares them or switches on them.
KNOW_KINDS = ("acquisition/", "proto/", "formats/", "python/", "transport/acquisition/hello.cpp")
# Enumerations of acquisition/ that other rooms may switch on, and why.
OPEN_ENUMERATIONS = {"SampleEncoding": "how a sample is stored is the business of whoever reads or writes samples",
                     "FiringShape": "how elements stand to each other shapes their wave front; it says nothing of pairs"}

COMMENT_OR_STRING = re.compile(r'//[^\n]*|/\*.*?\*/|R"\((.*?)\)"|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)\'', re.DOTALL)
ENUMERATION = re.compile(r"\benum(?:\s+class|\s+struct)?\s+(\w+)\s*(?::[^{;]*)?\{([^}]*)\}")
STAGE_KIND = re.compile(r"\b(?:extern\s+|inline\s+|constexpr\s+)*(?:const\s+)?StageKind\s+(\w+)\s*[;={]")
# n (n + 1) / 2, however n is called.
TRIANGLE = re.compile(r"\*\s*\(\s*\w+(?:\(\))?\s*\+\s*1[uUlL]*\s*\)\s*/\s*2")


def code_of(text, strings=False):
    """The text without comments, and without the contents of strings unless they are wanted; lines stay where they are."""
    def blank(found):
        if found[0].startswith(("//", "/*")):
            return "\n" * found[0].count("\n") or " "
        return found[0] if strings else '""' + "\n" * found[0].count("\n")
    # Digits in groups, 1'000'000, are no characters.
    return COMMENT_OR_STRING.sub(blank, re.sub(r"(?<=\d)'(?=\d)", "", text))


def enumerations(text):
    """{name: [enumerators]}"""
    return {name: re.findall(r"\b([a-z]\w*)\b(?=\s*(?:=[^,]*)?(?:,|$))", body.strip(), re.IGNORECASE)
            for name, body in ENUMERATION.findall(code_of(text))}


def note(findings, name, text, place, what):
    findings.setdefault(name, []).append(f"line {text.count(chr(10), 0, place) + 1}: {what}")


def of_kinds(house):
    """The enumerations that say which pairs an acquisition holds or which kinds its parts are: all of acquisition/ but the open
    ones, so that one by another name is found too; and those of the messages that have the same enumerators."""
    kinds = {}
    for _, text in house.files("acquisition"):
        kinds.update({name: words for name, words in enumerations(text).items() if name not in OPEN_ENUMERATIONS})
    for path in sorted((house.root / "proto").glob("*.proto")):
        for name, words in enumerations(path.read_text(encoding="utf-8").replace(";", ",")).items():
            endings = [word.lower() for word in words]
            if any(len([word for word in those if any(end == word or end.endswith("_" + word) for end in endings)]) >= 2
                   for those in list(kinds.values())):
                kinds.setdefault(name, words)
    return kinds


def kinds_compared(house):
    """Comparisons, switches and casts of kinds, names for them that hide them, and enumerations that repeat them."""
    kinds = of_kinds(house)
    if not kinds:
        return {}
    any_kind = r"(?:\w+::)*(?:" + "|".join(kinds) + ")"
    declared = re.compile(rf"\b{any_kind}\s*&?\s+(\w+)\s*[;=,){{]")
    texts = [(name, code_of(text)) for name, text in house.files()]
    members = {variable for name, text in texts if name.endswith(".hpp")
               for variable in re.findall(rf"\b{any_kind}\s+(\w+)\s*(?:=[^;,()]*|\{{[^;]*)?;", text)}
    findings = {}
    for name, text in texts:
        if name.startswith(KNOW_KINDS):
            continue
        own = set(declared.findall(text))
        variables = [rf"(?:\.|->){variable}" for variable in sorted(members)] + [rf"\b{variable}" for variable in sorted(own)]
        held = "(?:" + "|".join(variables) + r")\b(?!\s*\()" if variables else "(?!)"
        patterns = [
            (rf"[=!]=\s*{any_kind}::\w+|{any_kind}::\w+\s*[=!]=", "compares a kind"),
            (rf"\bcase\s+{any_kind}::\w+", "switches on a kind"),
            (rf"{held}\s*[=!]=(?!=)|[=!]=\s*[\w.>()\[\]-]*{held}", "compares a kind"),
            (rf"\bswitch\s*\([^()]*{held}\s*\)", "switches on a kind"),
            (rf"(?:static_cast<[^<>]*>|to_underlying)\s*\([^()]*{held}\s*\)", "makes a number of a kind"),
            (rf"\busing\s+(?:enum\s+{any_kind}|\w+\s*=\s*{any_kind})\s*;", "gives kinds another name"),
        ]
        seen = set()
        for pattern, what in patterns:
            for found in re.finditer(pattern, text):
                line = text.count("\n", 0, found.start())
                if line not in seen:
                    seen.add(line)
                    note(findings, name, text, found.start(), f"{what}: {' '.join(found[0].split())}")
        for repeated, words in enumerations(text).items():
            for kind, those in kinds.items():
                if len(set(words) & set(those)) >= 2 and repeated != kind:
                    findings.setdefault(name, []).append(f"enumeration {repeated} repeats {kind}")
    return findings


def kinds_by_question(house):
    """Calls of functions of acquisition/ that are nothing but a comparison with a kind: that is comparing by another name."""
    any_kind = "(?:" + "|".join(of_kinds(house)) + ")"
    plain = re.compile(r"\bbool\s+(?:\w+::)?(\w+)\s*\([^()]*\)\s*(?:const\s*)?(?:noexcept\s*)?\{\s*return\s+[\w.>()-]+\s*[=!]=\s*(?:\w+::)*"
                       + any_kind + r"::\w+\s*;\s*\}")
    texts = [(name, code_of(text)) for name, text in house.files("acquisition")]
    headers = " ".join(text for name, text in texts if name.endswith(".hpp"))
    questions = {function for _, text in texts for function in plain.findall(text) if re.search(rf"\b{function}\s*\(", headers)}
    return calls_of(house, questions)


def calls_of(house, functions):
    """Where rooms that are not to know kinds call one of these functions."""
    findings = {}
    if not functions:
        return findings
    called = re.compile(r"\b(?:" + "|".join(sorted(functions)) + r")\s*\(")
    for name, text in house.files():
        if name.startswith(KNOW_KINDS):
            continue
        code = code_of(text)
        for found in called.finditer(code):
            note(findings, name, code, found.start(), found[0].rstrip(" ("))
    return findings


def index_arithmetic(house):
    """Places of pairs of one kind, worked out outside of the rooms that know kinds: by a function of acquisition/ that is named
    after a kind, or by n (n + 1) / 2."""
    words = {part for those in of_kinds(house).values() for word in those for part in (word, word.split("_")[0])}
    functions = set()
    for name, text in house.files("acquisition"):
        if name.endswith(".hpp"):
            functions |= {function for function in re.findall(r"\b([a-z]\w*)\s*\(", code_of(text))
                          if {"index", "row", "rows", "place", "offset"} & set(function.split("_")) and words & set(function.split("_"))}
    findings = calls_of(house, functions)
    for name, text in house.files():
        if name.startswith(KNOW_KINDS):
            continue
        code = code_of(text)
        for found in TRIANGLE.finditer(code):
            note(findings, name, code, found.start(), " ".join(found[0].split()))
    return findings


def forms_of_events(house):
    """Forms of transmit events named where shots are only moved, stored and computed: a form is the business of acquisition/, of its
    line in the messages and of whoever works out when its wave arrives."""
    forms = set()
    for name, text in house.files("acquisition"):
        for alternatives in re.findall(r"\busing\s+\w+\s*=\s*std::variant<([^<>;]*)>\s*;", code_of(text)):
            forms |= {word.strip() for word in alternatives.split(",")} - {"std::monostate"}
    findings = {}
    if not forms:
        return findings
    named = re.compile(r"\b(?:" + "|".join(sorted(forms)) + r")\b")
    for name, text in house.files("pipeline", "engines", "stages", "transport", "recording", "control"):
        if name.startswith(KNOW_KINDS):
            continue
        code = code_of(text)
        for found in named.finditer(code):
            note(findings, name, code, found.start(), found[0])
    return findings


def casts_in_engines(house):
    """Casts down in engines/: stages say what they know through their interface."""
    findings = {}
    for name, text in house.files("engines"):
        code = code_of(text)
        for found in re.finditer(r"\bdynamic_(?:pointer_)?cast\b", code):
            note(findings, name, code, found.start(), found[0])
    return findings


def stage_folders(house):
    return sorted(path.name for path in (house.root / "stages").iterdir() if path.is_dir())


def method_folders(house):
    folder = house.root / "methods"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def chains_elsewhere(house):
    """Kinds of stages named outside of their own folders, methods and what measures stages one by one: a chain is composed in
    methods/ alone."""
    kinds = {}
    for name, text in house.files("stages"):
        for kind in STAGE_KIND.findall(code_of(text)):
            kinds[kind] = name.rsplit("/", 1)[0]
    findings = {}
    if not kinds:
        return findings
    named = re.compile(r"\b(?:" + "|".join(sorted(kinds)) + r")\b")
    for name, text in house.files():
        if name.startswith(("methods/", "benchmarks/")):
            continue
        code = code_of(text)
        for found in named.finditer(code):
            if not name.startswith(kinds[found[0]] + "/"):
                note(findings, name, code, found.start(), found[0])
    return findings


def names_of_stages(house):
    """Stages and methods that engines/, pipeline/ and transport/ name, in code or by an include; a stage that is named after the
    output that it makes (pipeline/recipe.hpp) can only be found by its include."""
    recipe = house.root / "pipeline/recipe.hpp"
    outputs = {word for words in enumerations(recipe.read_text(encoding="utf-8")).values() for word in words} if recipe.exists() else set()
    words = [name.replace("_", "[ _-]?") for name in stage_folders(house) + method_folders(house) if name not in outputs]
    named = re.compile(r"(?<![A-Za-z])(?:" + "|".join(words) + r")(?![A-Za-z])", re.IGNORECASE)
    include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(?:stages|methods)/[^"]*"', re.MULTILINE)
    findings = {}
    for name, text in house.files("engines", "pipeline", "transport"):
        code = code_of(text, strings=True)
        for found in include.finditer(code):
            note(findings, name, code, found.start(), found[0])
        code = include.sub("", code)
        for found in named.finditer(code):
            note(findings, name, code, found.start(), found[0])
    return findings


# Methods whose names other code means otherwise.
WORDS_OF_THE_TRADE = {"beams"}


def methods_by_name(house):
    """Methods that anybody names, in code or by an include, but their own folders, the line of methods/registry.cpp, and benchmarks,
    which measure the parts of one: a method is added by its folder and one line."""
    folders = method_folders(house)
    if not folders:
        return {}
    names = "|".join(folders)
    include = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*"methods/(?:{names})/[^"]*"', re.MULTILINE)
    # A name that is a word of the trade is one where it is written as a method's: beside the word, or as what its folder defines.
    words = [folder for folder in folders if folder in WORDS_OF_THE_TRADE]
    own = "|".join(folder for folder in folders if folder not in WORDS_OF_THE_TRADE) or "(?!)"
    spelled = "|".join(words) or "(?!)"
    named = re.compile(rf'(?<![A-Za-z])(?:{own})(?![A-Za-z])|method\W{{1,6}}"(?:{spelled})"|(?<![A-Za-z_])(?:{spelled})_(?:method|name)(?![A-Za-z])', re.IGNORECASE)
    findings = {}
    for name, text in house.files():
        if name.startswith(("benchmarks/", "apps/bench/", *(f"methods/{folder}/" for folder in folders))) or name == "methods/registry.cpp":
            continue
        code = code_of(text, strings=True)
        for found in (*include.finditer(code), *named.finditer(include.sub("", code))):
            note(findings, name, code, found.start(), found[0])
    return findings


def stages_by_include(house):
    """Headers of stages that rooms include beside methods/ and what measures stages one by one: a stage is added by its folder and
    the recipe that uses it. Stages may share arithmetic."""
    folders = {name.split("/")[1] for name, text in house.files("stages") if STAGE_KIND.search(code_of(text))}
    include = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"(stages/(\w+)/[^"]*)"', re.MULTILINE)
    findings = {}
    for name, text in house.files():
        if name.startswith(("stages/", "methods/", "benchmarks/", "apps/bench/")):
            continue
        for found in include.finditer(text):
            if found[2] in folders:
                note(findings, name, text, found.start(), f"includes {found[1]}")
    return findings


def doors_by_name(house):
    """Sinks and sources that others name than their own folder, apps/doors.cpp, and what measures them: one is added by a file and a
    line there."""
    door = re.compile(r"\bclass\s+(\w+)\s*(?:final\s*)?:\s*public\s+(?:ImageSink|AcquisitionSource)\b")
    homes = {}
    for name, text in house.files():
        for found in door.findall(code_of(text)):
            homes.setdefault(found, set()).add(name.rsplit("/", 1)[0])
    findings = {}
    if not homes:
        return findings
    named = re.compile(r"\b(?:" + "|".join(sorted(homes)) + r")\b")
    for name, text in house.files():
        if name == "apps/doors.cpp" or name.startswith("benchmarks/"):
            continue
        code = code_of(text)
        for found in named.finditer(code):
            if name.rsplit("/", 1)[0] not in homes[found[0]]:
                note(findings, name, code, found.start(), found[0])
    return findings


def keys_by_name(house):
    """Keys of a configuration that somebody looks up by their names: a key is its row, and whoever wants its value has the member."""
    looked_up = re.compile(r'\b(?:find_key|live_key|nearest_key)\s*\(\s*"')
    findings = {}
    for name, text in house.files():
        code = code_of(text, strings=True)
        for found in looked_up.finditer(code):
            note(findings, name, code, found.start(), found[0])
    return findings


def encodings_by_name(house):
    """Encodings of samples named outside of acquisition/, of what carries and stores them, and of the kernels that read them: what
    others ask of an encoding is in its one entry (acquisition/sample_encodings.hpp)."""
    named = re.compile(r"\bSampleEncoding::\w+")
    findings = {}
    for name, text in house.files():
        if name.startswith((*KNOW_KINDS, "stages/raw_rows/", "simulators/", "benchmarks/")):
            continue
        code = code_of(text)
        for found in named.finditer(code):
            note(findings, name, code, found.start(), found[0])
    return findings


def above_the_pipeline(house):
    """Includes of pipeline/ beside base/, acquisition/ and its own."""
    findings = {}
    for (room, _), files in house.includes().items():
        for name, header in files if room == "pipeline" else ():
            if not header.startswith(("base/", "acquisition/")):
                findings.setdefault(name, []).append(f"includes {header}")
    return findings


def against_the_order(house):
    """Includes of rooms that stand later in docs/architecture.md's table."""
    findings = {}
    for (room, other), files in house.back_arrows().items():
        for name, header in files:
            findings.setdefault(name, []).append(f"includes {header}, but {other}/ stands above {room}/")
    return findings


def hdf5_by_itself(house):
    """Calls that read or open HDF5 files where no size and no descriptor is checked: Hdf5Item, Hdf5Blocks, open_hdf5() and Hdf5NewFile do."""
    return calls_elsewhere(house, re.compile(r"\bH5(?:Dread|Aread|Dread_chunk|Fopen|Fcreate)\s*\("),
                           ("formats/hdf5_blocks.cpp", "formats/hdf5_file.cpp", "formats/hdf5_maker.cpp"))


def files_by_name(house):
    """Files that are made under a name that they are given, instead of an AtomicFile or create_file()."""
    return calls_elsewhere(house, re.compile(r"\bO_CREAT\b|\bfopen\s*\(|\bofstream\b(?!>)|\bMat_Create\w*\s*\("),
                           ("base/file_descriptor.cpp", "formats/atomic_file.cpp"))


def calls_elsewhere(house, pattern, allowed):
    findings = {}
    for name, text in house.files():
        code = code_of(text)
        for found in pattern.finditer(code) if name not in allowed else ():
            note(findings, name, code, found.start(), found[0].rstrip(" ("))
    return findings


def helpers_of_tests_anew(house):
    """Helpers of the tests that somebody defines once more: eventually(), patience and input_error() are in tests/support."""
    defined = re.compile(r"\b(?:bool|auto)\s+(?:\w+::)*eventually\s*[(=]|\b(?:auto|\w*seconds|minutes)\s+patience\s*[{=(]"
                         r"|\b(?:string|auto)\s+(?:\w+::)*input_error(?:_of)?\s*[(=]")
    findings = {}
    for name, text in house.files("tests"):
        code = code_of(text)
        for found in defined.finditer(code) if not name.startswith("tests/support/") else ():
            note(findings, name, code, found.start(), found[0].rstrip(" ({="))
    return findings


def names_of_tests(house):
    """Sources of tests by another form of name than x_test.cpp."""
    names = [name for name, _ in house.files("tests")]
    return {name: ["expected x_test.cpp"] for name in names if name.rsplit("/", 1)[1].startswith("test_") and name.endswith(".cpp")}


def whole_configurations(house):
    """Functions of methods/ that take the whole configuration: images depend on ImagingSettings, or on an ImagingTask, which is
    settings that have met the data. What resolves a request, the rows of keys, and the simulated source have the whole of it."""
    allowed = re.compile(r"methods/(?:.*keys\.[ch]pp|.*simulated_scene\.[ch]pp|(?:registry|doubtful|imaging_task|unread_keys|method)\.[ch]pp"
                         r"|\w+/method\.cpp|reconstructed_volumes\.hpp)$")
    findings = {}
    for name, text in house.files("methods"):
        code = code_of(text)
        for found in re.finditer(r"\b(?:const\s+)?Configuration\s*&", code) if not allowed.match(name) else ():
            note(findings, name, code, found.start(), found[0])
        if name.endswith("method.cpp") or name == "methods/method.hpp":
            for found in re.finditer(r"(\w+)\(const Configuration&", code):
                if found[1] != "simulated_source":
                    note(findings, name, code, found.start(), found[0])
    return findings


def untyped_values(house):
    """std::any_cast in methods/ and pipeline/: what a method made a setup of has a type (methods/method_plan.hpp)."""
    return {name: found for room in ("methods", "pipeline")
            for name, found in calls_in(house, room, re.compile(r"\bany_cast\b")).items()}


def calls_in(house, room, pattern):
    findings = {}
    for name, text in house.files(room):
        code = code_of(text)
        for found in pattern.finditer(code):
            note(findings, name, code, found.start(), found[0])
    return findings


RULES = {
    "kinds-compared": kinds_compared,
    "kinds-by-question": kinds_by_question,
    "index-arithmetic": index_arithmetic,
    "forms-of-events": forms_of_events,
    "casts-in-engines": casts_in_engines,
    "chains-elsewhere": chains_elsewhere,
    "names-of-stages": names_of_stages,
    "methods-by-name": methods_by_name,
    "stages-by-include": stages_by_include,
    "doors-by-name": doors_by_name,
    "keys-by-name": keys_by_name,
    "encodings-by-name": encodings_by_name,
    "above-the-pipeline": above_the_pipeline,
    "hdf5-by-itself": hdf5_by_itself,
    "files-by-name": files_by_name,
    "against-the-order": against_the_order,
    "helpers-of-tests-anew": helpers_of_tests_anew,
    "names-of-tests": names_of_tests,
    "whole-configurations": whole_configurations,
    "untyped-values": untyped_values,
}
