#include "bindings/dlpack.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "ir/own.h"

namespace sardonyx::python {

namespace {

using nb::dlpack::dtype_code;

// The floating types that DLPack has codes of their own for; the others are Float by their width.
struct FloatCode {
    ElementType type;
    dtype_code code;
};
constexpr FloatCode kFloatCodes[] = {
    {ElementType::kBfloat16, dtype_code::Bfloat},
    {ElementType::kFloat8E4M3FN, dtype_code::Float8_E4M3FN},
    {ElementType::kFloat8E4M3FNUZ, dtype_code::Float8_E4M3FNUZ},
    {ElementType::kFloat8E5M2, dtype_code::Float8_E5M2},
    {ElementType::kFloat8E5M2FNUZ, dtype_code::Float8_E5M2FNUZ},
    {ElementType::kFloat8E8M0, dtype_code::Float8_E8M0FNU},
};

dtype_code float_code(ElementType type) {
    for (const FloatCode& row : kFloatCodes) {
        if (row.type == type) {
            return row.code;
        }
    }
    return dtype_code::Float;
}

dtype_code code_of(ElementType type) {
    switch (element_class(type)) {
        case ElementClass::kSigned:
            return dtype_code::Int;
        case ElementClass::kUnsigned:
            return dtype_code::UInt;
        case ElementClass::kBoolean:
            return dtype_code::Bool;
        case ElementClass::kComplex:
            return dtype_code::Complex;
        default:
            return float_code(type);
    }
}

// Whether each element occupies whole bytes of its own.
bool has_bytes(ElementType type) {
    return info(type).bits >= 8;
}

nb::dlpack::dtype dlpack_type(ElementType type) {
    return {static_cast<uint8_t>(code_of(type)), info(type).bits, 1};
}

ElementType element_type_of_dlpack(const nb::dlpack::dtype& wanted) {
    for (int number = 1; number < kElementTypeCount; ++number) {
        ElementType type = element_type_from_number(number);
        if (has_bytes(type) && dlpack_type(type) == wanted) {
            return type;
        }
    }
    return ElementType::kUndefined;
}

// Copies elements of `width` bytes, row by row, from strides that count elements.
std::byte* copy_rows(const std::byte* from, std::span<const int64_t> dims, const int64_t* strides,
                     size_t width, std::byte* to) {
    if (dims.empty()) {
        std::memcpy(to, from, width);
        return to + width;
    }
    for (int64_t i = 0; i < dims[0]; ++i) {
        auto step = i * strides[0] * static_cast<int64_t>(width);
        to = copy_rows(from + step, dims.subspan(1), strides + 1, width, to);
    }
    return to;
}

using Foreign = nb::ndarray<nb::ro>;

// The capsule of `object`. `object` itself is not kept: a tensor that held it, and through its
// class the globals of its module, could hold itself.
nb::object capsule_of(nb::handle object) {
    nb::object offer = object.attr("__dlpack__");
    try {
        return offer(nb::arg("max_version") = nb::make_tuple(1, 0));
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_TypeError)) {  // what knows only DLPack before 1.0
            throw;
        }
    }
    return offer();
}

}  // namespace

bool has_dlpack(nb::handle object) {
    return nb::hasattr(object, "__dlpack__");
}

Tensor tensor_from_dlpack(nb::handle object) {
    Foreign foreign;
    if (!nb::try_cast(capsule_of(object), foreign)) {
        raise(PyExc_TypeError, "what `" + kind_of(object) +
                                   "` offers through DLPack cannot be read: give a NumPy array");
    }
    if (foreign.device_type() != nb::device::cpu::value) {
        raise(PyExc_TypeError, "`" + kind_of(object) +
                                   "` is on another device than the CPU: move it there first, as "
                                   "with `x.cpu()`");
    }
    ElementType type = element_type_of_dlpack(foreign.dtype());
    if (type == ElementType::kUndefined) {
        raise(PyExc_TypeError, "ONNX has no element type for those of `" + kind_of(object) + "`");
    }
    Dims dims(foreign.shape_ptr(), foreign.shape_ptr() + foreign.ndim());
    std::optional<int64_t> count = element_count(dims);
    if (!count.has_value()) {
        raise(PyExc_ValueError, "`" + kind_of(object) + "` has a dimension below 0");
    }
    const auto* data = static_cast<const std::byte*>(static_cast<const void*>(foreign.data()));
    bool is_row_major = true;
    int64_t step = 1;
    for (size_t d = dims.size(); d-- > 0;) {
        is_row_major = is_row_major && (dims[d] == 1 || foreign.stride(d) == step);
        step *= dims[d];
    }
    if (is_row_major || *count == 0) {
        std::span<const std::byte> bytes(data, byte_size(type, *count));
        auto owner = std::make_shared<Foreign>(std::move(foreign));
        return Tensor::view_of(type, std::move(dims), bytes, std::move(owner));
    }
    Tensor copy = Tensor::uninitialized(type, std::move(dims));
    copy_rows(data, copy.dims(), foreign.stride_ptr(), info(type).bits / 8,
              copy.mutable_bytes().data());
    return copy;
}

nb::object dlpack_from_tensor(const Tensor& tensor, const nb::kwargs& options) {
    ElementType type = tensor.element_type();
    if (!has_bytes(type)) {
        raise(PyExc_BufferError, "a tensor of " + std::string(name(type)) +
                                     " cannot leave through DLPack: cast it first");
    }
    nb::dict rest;
    Tensor given = tensor;
    for (auto [key, value] : options) {
        if (text_from_python(key) != "copy") {
            rest[key] = value;
        } else if (value.ptr() == Py_True) {
            given = ir::copy_of(tensor);
        }
    }
    std::vector<size_t> dims(given.dims().begin(), given.dims().end());
    const void* data = given.bytes().data();
    nb::capsule owner(new Tensor(std::move(given)),
                      [](void* kept) noexcept { delete static_cast<Tensor*>(kept); });
    nb::ndarray<nb::ro, nb::array_api> lent(data, dims.size(), dims.data(), owner, nullptr,
                                            dlpack_type(type));
    return nb::cast(lent).attr("__dlpack__")(**rest);
}

}  // namespace sardonyx::python
