"""Holds that modules do not import each other in a circle, imports for type checkers included."""

import grimp


def circles(graph: grimp.ImportGraph) -> set[frozenset[str]]:
    """The largest sets of modules of which each imports each other, directly or not."""
    found: set[frozenset[str]] = set()
    for module in graph.modules:
        below = graph.find_upstream_modules(module)
        circle = {other for other in below if module in graph.find_upstream_modules(other)}
        if circle - {module}:
            found.add(frozenset({module, *circle}))
    return found


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = grimp.build_graph("sayso")
    assert circles(graph) == set()
