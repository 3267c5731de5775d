"""Names in the package: each public class or type has one of its own."""

import ast
from collections import defaultdict

from tests.text_counts import PACKAGE, sources


def test_no_two_public_types_share_a_name() -> None:
    """Classes, and names of types such as `Mask = npt.NDArray[np.bool_]`: names that begin with a capital letter."""
    modules = defaultdict(list)
    for path, tree in sources():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                name = node.name
            elif isinstance(node, (ast.Assign, ast.AnnAssign)):
                name = ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target)
            else:
                continue
            if name[0].isupper() and not name.isupper():
                modules[name].append(str(path.relative_to(PACKAGE)))
    assert not {name: paths for name, paths in modules.items() if len(paths) > 1}
