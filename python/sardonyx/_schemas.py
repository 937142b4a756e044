"""Schemas of operators of other domains: files in TOML, docs/schemas.md."""

from ._core import Schemas, check_readable
from ._core import load_schemas as _load
from ._script import _take

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
else:
    from ._type_names import os


def load_schemas(*paths: "str | os.PathLike[str]") -> Schemas:
    """Reads schema files, for `@script(schemas=...)`.

    Instead of a path, it also accepts the name of a domain whose file is part of the package
    (`com.microsoft`).
    """
    from pathlib import Path

    own = {file.stem: file for file in (Path(__file__).parent / "schemas").glob("*.toml")}
    names = [str(own.get(str(path), path)) for path in paths]
    for name in names:
        check_readable(name)
    schemas: Schemas = _take(_load(names))
    return schemas
