"""The dashboard's routes, read from its sources."""
import pathlib
import re

SOURCES = pathlib.Path(__file__).resolve().parents[2] / "Sources"
_ROUTE = {
    "GET": re.compile(r'\.(?:get\(|open\(\s*\.get,)\s*"((?:/(?!v1\b)[^"\\]*)?)",'),
    "POST": re.compile(r'\.(?:post\(|upload\(|open\(\s*\.post,)\s*"((?:/(?!v1\b)[^"\\]*)?)",'),
}


def routes(method):
    """The paths of a method below the root, with where they are."""
    for file in sorted((SOURCES / "Dashboard" / "Pages").rglob("*.swift")):
        for path in _ROUTE[method].findall(file.read_text()):
            yield path, file.name


def plain(path):
    """The path without the names of its parameters."""
    return re.sub(r"\{\w+\}", "{}", path)


def missing(method, known):
    """The routes that a table does not have."""
    known = {plain(path) for path in known}
    return [f"{file}: {method} {path}" for path, file in routes(method) if plain(path) not in known]
