"""Names in the package: each public class has one of its own."""

import ast
from collections import defaultdict

from tests.text_counts import PACKAGE, sources


def test_no_two_public_classes_share_a_name() -> None:
    modules = defaultdict(list)
    for path, tree in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                modules[node.name].append(str(path.relative_to(PACKAGE)))
    assert not {name: paths for name, paths in modules.items() if len(paths) > 1}
