"""PyTorch's operators in the script language: `aten.linear(x, w, b)`, in scripts and on arrays.

`overloads()` has the function of each overload, such as `aten::add.Tensor`.
"""

import importlib

_MODULES = (
    "pointwise", "activation", "view", "join", "index", "reduce", "order", "create", "products",
    "conv", "pool", "resize", "norm", "attention", "recurrent", "loss", "quantized", "special",
    "factorise", "singular", "bessel", "bins", "chance", "pairs", "pairs_fourier", "pairs_math",
    "pairs_sums", "pairs_products", "pairs_factorise", "pairs_singular", "eigen", "prims",
    "sparse", "vision",
)  # fmt: skip
_loaded = False


def _load():
    global _loaded
    if not _loaded:
        _loaded = True
        for name in _MODULES:
            importlib.import_module(f"{__name__}.{name}")
        from .declare import NAMES

        globals().update(NAMES)  # also in place of the modules `view` and `index`


def overloads():
    """Each overload that the library has, as (name in scripts, function)."""
    _load()
    from .declare import OVERLOADS

    return OVERLOADS


def __getattr__(name):
    if not name.startswith("__"):
        _load()
        from .declare import NAMES

        if name in NAMES:
            return NAMES[name]
    raise AttributeError(f"the library of PyTorch's operators has no `{name}`")


def __dir__():
    _load()
    from .declare import NAMES

    return sorted(NAMES)
