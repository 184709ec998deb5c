"""The rooms of the house: their order, which docs/architecture.md states, and which includes which, as the sources say.

For tools/draw-rooms and tests/house. The order is that of the table with the columns "room", "holds" and "knows": from the ground
up, so that a room includes itself and rooms of rows before its own.
"""
import pathlib
import re

SOURCES = (".hpp", ".cpp", ".cu", ".cuh")
TABLE = re.compile(r"^\| room \|.*\n\|[ |-]+\|\n((?:\|.*\n)+)", re.MULTILINE)
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([a-z_0-9]+)/([^">]+)[">]', re.MULTILINE)


class OrderError(Exception):
    pass


def order_of(document):
    """The rooms in the first column of the table, from the ground up."""
    table = TABLE.search(document)
    if table is None:
        raise OrderError('docs/architecture.md: found no table with a first column "room"; expected the rooms from the ground up')
    rooms = [room for row in table[1].splitlines() for room in re.findall(r"`([a-z_]+)/`", row.split("|")[1])]
    twice = sorted({room for room in rooms if rooms.count(room) > 1})
    if twice:
        raise OrderError(f"docs/architecture.md: found {', '.join(twice)} twice in the table of rooms; expected each room once")
    return rooms


class House:
    """The sources below `root`, of the rooms that the order names."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.order = order_of((self.root / "docs/architecture.md").read_text(encoding="utf-8"))
        self.built = re.findall(r"^\s*add_subdirectory\((\w+)\)", (self.root / "CMakeLists.txt").read_text(encoding="utf-8"), re.MULTILINE)

    def files(self, *rooms):
        """(path from the root, text) of each source of these rooms, sorted; every room's where none is named."""
        for room in rooms or self.order:
            folder = self.root / room
            for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
                if path.suffix in SOURCES:
                    yield path.relative_to(self.root).as_posix(), path.read_text(encoding="utf-8")

    def includes(self):
        """{(room, room it includes): [(file, header), ...]} of different rooms."""
        found = {}
        for name, text in self.files():
            room = name.split("/")[0]
            for other, rest in INCLUDE.findall(text):
                if other != room and other in self.order:
                    found.setdefault((room, other), []).append((name, f"{other}/{rest}"))
        return found

    def back_arrows(self, includes=None):
        """Those of the includes that do not go down the order."""
        place = {room: index for index, room in enumerate(self.order)}
        includes = self.includes() if includes is None else includes
        return {edge: files for edge, files in includes.items() if place[edge[1]] > place[edge[0]]}


def reduced(edges, order):
    """The edges, without those that a way over other rooms says already. Edges go down the order."""
    below = {room: {to for origin, to in edges if origin == room} for room in order}
    reach = {}
    for room in order:  # from the ground up, so that what lies below is known
        reach[room] = below[room] | {far for near in below[room] for far in reach.get(near, set())}
    return {(room, to) for room, to in edges
            if not any(to in reach.get(near, set()) for near in below[room] if near != to)}
