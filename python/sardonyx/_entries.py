"""Metadata and opsets, as members of models show them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn


class Entries(dict):  # type: ignore[type-arg]
    """A dict that says how it is changed: the model has it as a whole. Copies are plain dicts."""

    __slots__ = ("_member",)

    def __init__(self, items: "dict[str, Any]", member: str) -> None:
        super().__init__(items)
        self._member = member

    def _refuse(self, *_args: "Any", **_named: "Any") -> "NoReturn":
        raise TypeError(
            f"`{self._member}` is assigned as a whole: "
            f"`model.{self._member} = {{**model.{self._member}, key: value}}`"
        )

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> "tuple[Any, ...]":
        return dict, (dict(self),)
