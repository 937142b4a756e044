"""Functions whose result depends on where, when or how often they are called: the names of the
caller's frame, the clock, random numbers. The compiler calls functions once, at another moment than
Python would, so that it refuses these."""

import builtins
import functools
import itertools
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_FRAME = "it reads the frame that calls it, which a compiled script does not have"
_CLOCK = "it reads the clock, and the model would keep the time at which it was compiled"
_RANDOM = "it draws another value in each call, and the model would keep the one of its compilation"
_INPUT = "it asks somebody, and the model would keep the answer"

# By module; "" is every function of it.
_TABLE: "dict[str, dict[str, str]]" = {
    "builtins": {
        **dict.fromkeys(("locals", "globals", "eval", "exec", "vars", "dir", "super"), _FRAME),
        **dict.fromkeys(("input", "breakpoint"), _INPUT),
    },
    "sys": dict.fromkeys(
        ("_getframe", "_getframemodulename", "exc_info", "exception", "_current_frames"), _FRAME
    ),
    "inspect": dict.fromkeys(("currentframe", "stack", "trace"), _FRAME),
    "traceback": {"": _FRAME},
    "time": dict.fromkeys(
        (
            "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns",
            "process_time", "process_time_ns", "thread_time", "localtime", "gmtime", "ctime",
            "strftime", "asctime",
        ),
        _CLOCK,
    ),
    "datetime": dict.fromkeys(("now", "utcnow", "today"), _CLOCK),
    "random": {"": _RANDOM},
    "secrets": {"": _RANDOM},
    "uuid": dict.fromkeys(("uuid1", "uuid4", "uuid6", "uuid7"), _RANDOM),
    "os": dict.fromkeys(("urandom", "getrandom"), _RANDOM),
    "posix": dict.fromkeys(("urandom", "getrandom"), _RANDOM),
    "nt": {"urandom": _RANDOM},
    "numpy.random": {"": _RANDOM},
    "torch": dict.fromkeys(
        ("rand", "randn", "randint", "randperm", "normal", "bernoulli", "multinomial"), _RANDOM
    ),
}  # fmt: skip
# Functions that make a generator; with a seed, it is the same one each time.
_WITH_SEED = frozenset(
    ("default_rng", "RandomState", "Random", "Generator", "PCG64", "SeedSequence")
)
_CACHED = type(functools.lru_cache(len))
# Depend on the caller only if they are called without arguments.
_OF_CALLER = frozenset(("vars", "dir", "super"))


def _reason_in(module: str, name: str) -> "str | None":
    if name in _WITH_SEED or name == "seed":
        return None
    names = _TABLE.get(module, {})
    return names.get(name) or (names.get("") if not name.startswith("__") else None)


def of_call(function: "Any", has_arguments: bool) -> "str | None":
    """Why the compiler may not call it; None: it may."""
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    owner = getattr(function, "__self__", None)
    if isinstance(owner, types.ModuleType):
        module = owner.__name__
    elif isinstance(owner, type):
        module = owner.__module__
    elif owner is not None:
        # A method of a generator, whose state changes with each call.
        module = getattr(function, "__module__", None) or ""
        is_of_module = module in ("random", "numpy.random")  # random.random, np.random.rand
        if not _is_generator(owner) and not is_of_module:
            return None
        return None if name == "seed" else _RANDOM
    else:
        module = getattr(function, "__module__", None) or ""
    if has_arguments and name in _OF_CALLER and module == "builtins":
        return None
    if not has_arguments and name in _WITH_SEED and module.split(".")[0] in ("random", "numpy"):
        return _RANDOM
    for home in (
        module,
        module.removeprefix("_"),
        "numpy.random" if "numpy.random" in module else "",
    ):
        if home and (reason := _reason_in(home, name)):
            return reason
    return None


def names_of(code: types.CodeType) -> "set[str]":
    """The globals, attributes and free names of a function's code."""
    names = {*code.co_names, *code.co_freevars}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= names_of(constant)
    return names


@functools.lru_cache(maxsize=256)
def _paths(code: types.CodeType) -> "tuple[tuple[str, ...], ...]":
    """The names that are read from outside, each with the members that are read from it."""
    import dis

    found: list[list[str]] = []
    is_open = False
    for one in dis.get_instructions(code):
        if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF"):
            found.append([str(one.argval)])
            is_open = True
        elif one.opname in ("LOAD_ATTR", "LOAD_METHOD") and is_open:
            found[-1].append(str(one.argval))
        elif one.opname not in ("PUSH_NULL", "CACHE", "PRECALL"):
            is_open = False
    paths = {tuple(path) for path in found}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            paths |= set(_paths(constant))
    return tuple(sorted(paths))


def is_own_class(kind: type, folder: str) -> bool:
    """Whether a class is of the script's folder or below it."""
    for member in list(vars(kind).values()):
        one = getattr(member, "fget", getattr(member, "__func__", member))
        # What `dataclass` makes is of no file.
        is_made = (
            isinstance(one, types.FunctionType)
            and bool(folder)
            and (one.__code__.co_filename.startswith("<"))
        )
        if isinstance(one, types.FunctionType) and not is_made:
            return one.__code__.co_filename.startswith(folder)
    module = sys.modules.get(kind.__module__)
    path = getattr(module, "__file__", None)
    return isinstance(path, str) and path.startswith(folder)


# More of a list or dict is not looked into.
_MOST_ITEMS = 1000


def _inside(one: "Any") -> "list[Any]":
    """What may be called by who has the object, of those that are no functions."""
    if isinstance(one, functools.partial):
        return [one.func, *one.args, *one.keywords.values()]
    if isinstance(one, types.MethodType):
        return [one.__func__, one.__self__]
    if isinstance(one, (staticmethod, classmethod)):
        return [one.__func__]
    if isinstance(one, property):
        return [one.fget, one.fset]
    if isinstance(one, functools.cached_property):
        return [one.func]
    if isinstance(one, dict):
        return list(itertools.islice(one.values(), _MOST_ITEMS))
    if isinstance(one, (list, tuple)):
        return list(one[:_MOST_ITEMS])
    wrapped = getattr(one, "__wrapped__", None) if isinstance(one, _CACHED) else None
    return [] if wrapped is None else [wrapped]


# What makes an instance.
_MAKERS = frozenset(("__init__", "__new__", "__post_init__"))


def _methods_of(kind: type, is_made: bool, names: "set[str]", folder: str) -> "list[Any]":
    """What may be called of a class of the folder: its special methods, those with these names, and
    where instances are made what makes them, with the defaults of a dataclass."""
    found = []
    for one in kind.__mro__:
        if one is not object and is_own_class(one, folder):
            found += [
                value
                for name, value in vars(one).items()
                if (is_made or name not in _MAKERS)
                and (name in names or (name.startswith("__") and callable(value)))
            ]
        if is_made:
            fields = vars(one).get("__dataclass_fields__", {})
            found += [field.default_factory for field in fields.values()]
    return found


def folder_of(path: str) -> str:
    return path[: max(path.rfind("/"), path.rfind("\\")) + 1]


def of_objects(objects: "list[Any]", path: str) -> "str | None":
    """Why the compiler may not run these functions, classes and instances for a script of the file,
    or what they call of its folder."""
    folder = folder_of(path)
    waiting, seen = list(objects), set()
    classes: list[type] = []
    kinds: set[int] = set()
    names: set[str] = set()
    generators: list[Any] = []  # of random numbers, which instances hold
    while waiting:
        one = waiting.pop()
        is_plain = one is None or isinstance(one, (int, float, str, bytes, types.ModuleType))
        if not is_plain and id(one) not in seen:
            seen.add(id(one))
            is_function = isinstance(one, types.FunctionType)
            if is_function and one.__code__.co_filename.startswith(folder):
                reason, more = _of_code(one)
                names |= names_of(one.__code__)
            else:
                reason = of_call(one, has_arguments=True) if callable(one) else None
                reason = f"`{one.__name__}` may be called: {reason}" if reason else None
                more = _inside(one)
            if reason is not None:
                return reason
            waiting += more
            kind = one if isinstance(one, type) else type(one)
            is_known = id(kind) in kinds or not any(
                "__dataclass_fields__" in vars(each) or is_own_class(each, folder)
                for each in kind.__mro__[:-1]
            )
            kinds.add(id(kind))
            if not is_known:
                classes.append(kind)
            if kind in classes and kind is not one:
                held = getattr(one, "__dict__", {}).values()
                generators += [each for each in held if _is_generator(each)]
        if not waiting:  # names may have come since a class has been seen
            if any(
                not name.startswith("_") and hasattr(g, name) for g in generators for name in names
            ):
                return _RANDOM
            methods = [
                one
                for kind in classes
                for one in _methods_of(kind, id(kind) in seen, names, folder)
            ]
            waiting += [one for one in methods if id(one) not in seen and one is not None]
    return None


def _of_code(function: types.FunctionType) -> "tuple[str | None, list[Any]]":
    """Why a function may not be run; and the objects that it names or has as defaults."""
    found: list[Any] = [
        *(function.__defaults__ or ()),
        *(function.__kwdefaults__ or {}).values(),
    ]
    paths = _paths(function.__code__)
    if any(path[-1] == "seed" for path in paths):
        return None, []
    for path in paths:
        value = _value_of(function, path)
        if path[-1] in _OF_CALLER:  # with arguments or not, this does not tell
            continue
        reason = of_call(value, has_arguments=True)
        if reason is not None:
            return f"`{'.'.join(path)}` in `{function.__name__}`: {reason}", []
        found += [value, _value_of(function, path[:1])]
    return None, found


def _value_of(function: types.FunctionType, path: "tuple[str, ...]") -> "Any":
    """The object of a path, as far as it goes through modules, classes and generators."""
    code = function.__code__
    if path[0] in code.co_freevars:
        try:
            place = code.co_freevars.index(path[0])
            found = (function.__closure__ or ())[place].cell_contents
        except ValueError:
            return None
    else:
        found = function.__globals__.get(path[0], getattr(builtins, path[0], None))
    for name in path[1:]:
        if not isinstance(found, (types.ModuleType, type)) and not _is_generator(found):
            return None
        found = getattr(found, name, None)
    return found


def _is_generator(found: "Any") -> bool:
    kind = type(found)
    return kind.__module__.partition(".")[0] in ("random", "numpy", "torch") and kind.__name__ in (
        "Generator",
        "RandomState",
        "Random",
        "SystemRandom",
    )
