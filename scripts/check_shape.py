"""Check the shape the project keeps: sizes, docstrings, doors, arrows of import.

Exit 1 with a line per breach. Sizes: module <= 400 lines, function <= 60, 5 parameters without
a default (click commands excepted: theirs are the command line).
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "omh_research"
MAX_MODULE, MAX_FUNCTION, MAX_PARAMETERS = 400, 60, 5

# One door per outside library: only these modules (or packages) may import it.
DOORS = {
    "click": ("cli",),
    "httpx": ("transport.py", "network"),
    "httpcore": ("transport.py", "network"),
    "httpx2": ("network",),
    "openai": ("llm",),
    "anthropic": ("llm",),
    "urllib.request": (),
    "http.client": (),
    "ftplib": (),
    "requests": (),
    "aiohttp": (),
    "urllib3": (),
    "websockets": (),
    "filelock": ("store/lock.py",),
    "fcntl": ("store/lock.py", "network/state_folder.py"),
    "yaml": ("documents/yaml_text.py",),
    "sqlite3": ("corpus", "providers/folder.py", "tools/ranking.py", "doctor.py", "network"),
    "subprocess": ("delegates", "hooks.py", "export/pdf_form.py"),
    "socket": ("network", "transport.py"),
    "trafilatura": ("corpus/html_reading.py", "providers/web"),
    "pypdfium2": ("corpus/pdf_reading.py",),
    "pydantic_ai": ("llm", "delegates/llm.py"),
    "mcp": ("mcp_server.py", "mcp_server"),
    "anyascii": ("documents/names.py",),
    "distributed": ("batch", "executors"),
    "nh3": ("export",),
    "jinja2": ("export",),
    "markdown_it": ("export",),
}
MODEL_CLIENTS = ("OpenAI", "AsyncOpenAI", "Anthropic", "AsyncAnthropic")
# Who may import whom below `omh_research` (spec 90-style, direction of imports).
FORBIDDEN = {
    "documents": ("store", "phases", "delegates", "providers", "cli", "engine", "wiring", "corpus"),
    "phases": ("store", "providers", "cli", "wiring", "engine", "api", "transport", "network",
               "corpus", "delegates"),
    "tools": ("store", "phases", "delegates", "cli", "engine", "wiring", "api"),
    "store": ("phases", "delegates", "providers", "cli", "engine", "wiring", "api", "transport",
              "network"),
    "delegates": ("store", "cli", "engine", "wiring", "api", "transport"),
    "providers": ("store", "cli", "engine", "wiring", "api", "phases", "delegates"),
    "literature": ("store", "cli", "engine", "wiring", "api", "phases", "delegates"),
    "machine.py": ("store", "phases", "delegates", "providers", "cli", "engine"),
    "engine.py": ("cli", "wiring", "delegates", "providers", "transport", "network"),
}  # fmt: skip
ALLOWED = {
    ("delegates/desk.py", "omh_research.phases.contract"),
    ("tools/academic.py", "omh_research.transport"),
    ("literature/files.py", "omh_research.store.disk"),
}


def breaches(path: Path) -> list[str]:
    """Return what one module breaks."""
    name = path.relative_to(PACKAGE).as_posix()
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    found = []
    lines = text.count("\n")
    if lines > MAX_MODULE:
        found.append(f"{name}: {lines} lines (at most {MAX_MODULE})")
    if not ast.get_docstring(tree):
        found.append(f"{name}: no module docstring")
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found += _function(name, node)
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node):
                found.append(f"{name}:{node.lineno} class {node.name}: no docstring")
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found += _import(name, node)
        elif isinstance(node, ast.Call):
            found += _client(name, node)
    return found


def _function(name: str, node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    found = []
    length = (node.end_lineno or node.lineno) - node.lineno + 1
    if length > MAX_FUNCTION:
        found.append(f"{name}:{node.lineno} {node.name}: {length} lines (at most {MAX_FUNCTION})")
    given = [*node.args.posonlyargs, *node.args.args]
    given = given[: len(given) - len(node.args.defaults)]
    given += [a for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if not d]
    count = len([a for a in given if a.arg not in ("self", "cls")])
    is_command = any("command" in ast.unparse(d) for d in node.decorator_list)
    if count > MAX_PARAMETERS and not is_command:
        found.append(f"{name}:{node.lineno} {node.name}: {count} parameters")
    return found


def _client(name: str, node: ast.Call) -> list[str]:
    """A model library's client that is not handed ours opens connections past the door."""
    called = ast.unparse(node.func).rpartition(".")[2]
    if called not in MODEL_CLIENTS or any(word.arg == "http_client" for word in node.keywords):
        return []
    return [f"{name}:{node.lineno} {called}: without http_client it goes past network/model_door"]


def _import(name: str, node: ast.Import | ast.ImportFrom) -> list[str]:
    modules = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    found = []
    for module in modules:
        top = module.split(".")[0]
        for door in {top, module} & DOORS.keys():
            if not any(_inside(name, place) for place in DOORS[door]):
                found.append(f"{name}:{node.lineno} imports {module}: its door is {DOORS[door]}")
        if top == "omh_research" and module.count("."):
            target = module.split(".")[1]
            for part, forbidden in FORBIDDEN.items():
                if _inside(name, part) and target in forbidden and (name, module) not in ALLOWED:
                    found.append(f"{name}:{node.lineno} imports {module}: {part} may not")
    return found


def _inside(name: str, part: str) -> bool:
    return name == part or name.startswith(part.rstrip("/") + "/")


def main() -> int:
    """Check every module; print the breaches."""
    found = [line for path in sorted(PACKAGE.rglob("*.py")) for line in breaches(path)]
    print("\n".join(found) or f"shape: {len(list(PACKAGE.rglob('*.py')))} modules keep it")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
