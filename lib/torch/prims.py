"""Operators of prims, which torch decomposes others into: they promote no types."""

from .bessel import spherical_bessel_j0 as spherical_j0
from .chance import normal_of, shaped, uniform_of
from .create import filled, steps
from .declare import alias, op, pairs, prims
from .pairs_fourier import along_all, real_along_all, to_real_along_all
from .pointwise import power
from .pointwise import where as where_promoted
from .reduce import extreme, moments, reduced, sum_, summed_type
from .singular import linalg_svd
from .types import cast
from .view import as_strided as strided
from .view import expand, flatten, flip, permute, reshaped, unflatten
from .view import resize as resized

# Those that are called as in aten, and the names that differ there.
_SAME = (
    "abs acos acosh asin asinh atan atan2 atanh cat ceil clone conj_physical cos cosh digamma erf "
    "erfc exp exp2 expm1 floor fmax fmin gcd hypot igamma igammac isfinite lgamma log log10 log1p "
    "log2 "
    "maximum minimum neg nextafter reciprocal round rsqrt scalar_tensor sign signbit sin sinh sqrt "
    "tan tanh trunc as_strided_scatter bitwise_not"
)  # fmt: skip
_OTHERWISE = {
    "bessel_i0": "i0.default", "bessel_i0e": "special_i0e.default",
    "bessel_i1": "special_i1.default", "bessel_i1e": "special_i1e.default",
    "bessel_j0": "special_bessel_j0.default", "bessel_j1": "special_bessel_j1.default",
    "erf_inv": "erfinv.default", "erfcx": "special_erfcx.default",
    "fill": "fill.Scalar", "frexp": "frexp.Tensor", "ndtri": "special_ndtri.default",
    "shift_left": "bitwise_left_shift.Tensor", "zeta": "special_zeta.default",
    "shift_right_arithmetic": "bitwise_right_shift.Tensor",
}  # fmt: skip
_OF_TWO = "add sub mul bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge fmod remainder"

for _name in _SAME.split():
    alias(f"prims::{_name}.default", f"aten::{_name}.default")
for _name in _OF_TWO.split():
    alias(f"prims::{_name}.default", f"aten::{_name}.Tensor")
for _name, _of in _OTHERWISE.items():
    alias(f"prims::{_name}.default", f"aten::{_of}")
for _name in ("add", "sub", "mul", "div", "eq", "ne"):
    alias(f"pairs::{_name}.default", f"pairs::{_name}.Tensor")


# --- Elements


@prims("cbrt")
def cbrt(self):
    return op.Sign(self) * op.Pow(op.Abs(self), 1.0 / 3.0)


@prims("div")
def div(self, other):
    return op.Div(self, other)  # integers are truncated


@prims("pow")
def pow_(self, other):
    return power(self, other)


@prims("spherical_bessel_j0")
def spherical_bessel_j0(self):
    return spherical_j0(self)


@prims("where")
def where(pred, a, b):
    return where_promoted(pred, a, b)


@prims("convert_element_type")
def convert_element_type(a, dtype):
    # From floats to integers what is behind the point is dropped, as in a cast.
    return cast(a, dtype)


# --- Views, which have copies of their own name in ONNX


@prims("as_strided")
def as_strided(a, size, stride, storage_offset):
    return strided(a, size, stride, storage_offset)


@prims("broadcast_in_dim")
def broadcast_in_dim(a, shape, broadcast_dimensions):
    new = [one for one in range(len(shape)) if one not in broadcast_dimensions]
    return expand(op.Unsqueeze(a, new) if len(new) > 0 else a, shape)


@prims("collapse")
def collapse(a, start, end):
    return flatten(a, start, end)


@prims("collapse_view")
def collapse_view(a, start, end):
    return flatten(a, start, end)


@prims("copy_strided")
def copy_strided(a, stride):
    return op.Identity(a)


@prims("copy_to")
def copy_to(a, b):
    return op.Identity(b)


@prims("device_put")
def device_put(a):
    return op.Identity(a)


@prims("reshape")
def reshape(a, shape):
    return reshaped(a, shape)


@prims("resize")
def resize(a, shape):
    return resized(a, shape)


@prims("rev")
def rev(a, dims):
    return flip(a, dims)


@prims("split_dim")
def split_dim(a, dim, outer_length):
    return unflatten(a, dim, [outer_length, a.shape[dim] // outer_length])


@prims("squeeze")
def squeeze(a, dimensions):
    return op.Squeeze(a, dimensions) if len(dimensions) > 0 else op.Identity(a)


@prims("transpose")
def transpose(a, permutation):
    return permute(a, permutation)


@prims("view_of")
def view_of(a):
    return op.Identity(a)


# --- Sums and extremes


@prims("amax")
def amax(inp, dims, *, output_dtype=None):
    return cast(extreme(op.ReduceMax, inp, dims, False), output_dtype)


@prims("amin")
def amin(inp, dims, *, output_dtype=None):
    return cast(extreme(op.ReduceMin, inp, dims, False), output_dtype)


@prims("prod")
def prod(inp, dims, *, output_dtype=None):
    return reduced(op.ReduceProd, summed_type(inp, output_dtype), dims, False)


@prims("sum")
def sum_over(inp, dims, *, output_dtype=None):
    return sum_(inp, dims, dtype=output_dtype)


@prims("var")
def var(inp, dims, correction=1, *, output_dtype=None):
    return cast(moments(inp, dims, correction, False)[0], output_dtype)


# --- What is made


@prims("empty")
def empty(shape, *, dtype):
    return filled(shape, 0, dtype)


@prims("empty_permuted")
def empty_permuted(shape, physical_layout, *, dtype):
    return filled(shape, 0, dtype)


@prims("empty_strided")
def empty_strided(shape, strides, *, dtype):
    return filled(shape, 0, dtype)


@prims("full")
def full(shape, fill_value, *, dtype):
    return filled(shape, fill_value, dtype)


@prims("full_like")
def full_like(a, fill_value, *, dtype):
    return filled(a.shape, fill_value, dtype)


@prims("iota")
def iota(length, *, start, step, dtype):
    return steps(start, start + length * step, step, dtype)


@prims("normal")
def normal(shape, *, mean, std, dtype):
    return normal_of(shaped(shape, dtype), mean, std)


@prims("uniform")
def uniform(shape, *, low, high, dtype, stride):
    return uniform_of(shaped(shape, dtype), low, high)


@prims("svd")
def svd(A, *, full_matrices):
    return linalg_svd(A, full_matrices)


# --- Fourier transforms, without a scale in either direction


@pairs("fft_c2c.default")
def fft_c2c(self, *, dim, forward):
    return along_all(self, None, dim, "backward" if forward else "forward", 0 if forward else 1)


@pairs("fft_r2c.default")
def fft_r2c(self, *, dim, onesided):
    if onesided:
        return real_along_all(self, None, dim, "backward")
    return along_all(self, None, dim, "backward", 0)


@pairs("fft_c2r.default")
def fft_c2r(self, *, dim, last_dim_size):
    return to_real_along_all(self, [-1] * (len(dim) - 1) + [last_dim_size], dim, "forward")
