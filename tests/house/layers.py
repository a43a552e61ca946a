#!/usr/bin/env python3
"""Compares every #include below src/ with the layering that CMakeLists.txt declares, and the declaration with the order
of docs/architecture.md: a module may depend only on modules that are named before it."""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1]).resolve()


def declared_modules():
    """Module -> modules it may use, in the order of declaration."""
    modules = {}
    for name, rest in re.findall(r"^nodescope_module\((\w+)([^)]*)\)", (ROOT / "CMakeLists.txt").read_text(), re.M):
        before_libraries = rest.split("LIBRARIES")[0].split()
        modules[name] = before_libraries[1:] if before_libraries[:1] == ["DEPENDS"] else []
    return modules


def check_declarations(modules):
    seen = []
    for name, depends in modules.items():
        for used in depends:
            if used not in seen:
                yield f"CMakeLists.txt: {name} depends on {used}, which is not declared before it"
        seen.append(name)


def check_includes(modules):
    for path in sorted((ROOT / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp") or path.parent == ROOT / "src":
            continue
        module = path.relative_to(ROOT / "src").parts[0]
        if module not in modules:
            yield f"{path.relative_to(ROOT)}: not in a declared module"
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'\s*#include "([^"/]+)/', line)
            if match and match.group(1) not in (module, *modules[module]):
                yield f"{path.relative_to(ROOT)}:{number}: {module} may not include {match.group(1)}"


def main():
    modules = declared_modules()
    if len(modules) < 5:
        sys.exit("no module declarations found in CMakeLists.txt")
    problems = [*check_declarations(modules), *check_includes(modules)]
    print("\n".join(problems) or f"{len(modules)} modules, no include against the layers")
    sys.exit(1 if problems else 0)


main()
