"""The opsets: `opset1` to the newest, `opset_ai_onnx_ml1` to the newest, and `all_opsets`."""

from ._core import Opset, domains

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._core import _AnyOpset
    from ._opsets import *  # type: ignore[import-not-found,unused-ignore]  # noqa: F403

    all_opsets: "dict[tuple[str, int], _AnyOpset]"


def _variable(domain: str, version: int) -> str:
    return f"opset_{domain.replace('.', '_')}{version}" if domain else f"opset{version}"


# By the name of the variable: (domain, version).
_VERSIONS = {
    _variable(domain, version): (domain, version)
    for domain, oldest, newest in domains()
    for version in range(oldest, newest + 1)
}
_NEWEST = max(version for domain, version in _VERSIONS.values() if not domain)

_CLASSES = {f"O{name[1:]}": version for name, version in _VERSIONS.items()}

__all__ = ["Opset", "all_opsets", "onnx_opset_version", *_VERSIONS]


def onnx_opset_version() -> int:
    """The newest version of ai.onnx that is known."""
    return _NEWEST


class _VersionOfOpset(type):
    """The class of a version, `Opset18`, for annotations and `isinstance`.

    A call gives the opset. Every opset is an `Opset`, and an instance of the classes of its own
    version and of older ones.
    """

    _key: "tuple[str, int]"

    def __call__(cls) -> "Opset":
        return Opset(*cls._key)

    def __instancecheck__(cls, value: object) -> bool:
        domain, version = cls._key
        return isinstance(value, Opset) and value.domain == domain and value.version >= version

    def __getattr__(cls, name: str) -> object:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(Opset(*cls._key), name)

    def __repr__(cls) -> str:
        return f"<class {cls.__name__}>"


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name in _VERSIONS:
            value: object = Opset(*_VERSIONS[name])
        elif name == "all_opsets":
            value = {
                key: globals().get(variable) or __getattr__(variable)
                for variable, key in _VERSIONS.items()
            }
        elif name in _CLASSES:
            body = {"_key": _CLASSES[name], "__module__": __name__}
            value = _VersionOfOpset(name, (), body)
        elif name.startswith("_"):  # Python itself asks for these
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        else:
            import sys

            from ._absent import absent

            raise absent(__name__, name, __all__, sys._getframe(1))
        globals()[name] = value
        return value


def __dir__() -> "list[str]":
    return __all__
