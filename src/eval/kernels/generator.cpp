// Operators that make a tensor out of attributes and sizes: Constant, ConstantOfShape, Range,
// EyeLike.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"
#include "ir/sparse.h"

namespace sardonyx::eval::kernels {
namespace {

template <typename T>
Tensor list_tensor(const std::vector<T>& list) {
    return Tensor::of<T>({static_cast<int64_t>(list.size())}, list);
}

template <typename T>
int64_t range_length(T start, T limit, T delta) {
    if constexpr (std::is_floating_point_v<T>) {
        double n = std::ceil((static_cast<double>(limit) - static_cast<double>(start)) /
                             static_cast<double>(delta));
        return saturate<int64_t>(std::max(n, 0.0));
    } else {
        bool is_rising = delta > 0;
        if (is_rising ? limit <= start : limit >= start) {
            return 0;
        }
        uint64_t distance = is_rising ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                                      : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
        uint64_t step =
            is_rising ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
        uint64_t n = (distance - 1) / step + 1;
        return n > static_cast<uint64_t>(INT64_MAX) ? INT64_MAX : static_cast<int64_t>(n);
    }
}

}  // namespace

Status constant(KernelContext& c) {
    if (c.attributes().all().size() != 1) {
        return Error{"exactly one attribute must give the value"};
    }
    const ir::Attribute* attribute = c.attributes().resolve(c.attributes().all()[0]);
    if (attribute == nullptr) {
        return Error{"the attribute that gives the value is left out"};
    }
    if (const Tensor* value = attribute->get<Tensor>()) {
        c.set_output(0, *value);
    } else if (const float* value = attribute->get<float>()) {
        c.set_output(0, Tensor::scalar<float>(*value));
    } else if (const int64_t* value = attribute->get<int64_t>()) {
        c.set_output(0, Tensor::scalar<int64_t>(*value));
    } else if (const std::string* value = attribute->get<std::string>()) {
        c.set_output(0, Tensor::of_strings({}, {*value}));
    } else if (const auto* value = attribute->get<std::vector<float>>()) {
        c.set_output(0, list_tensor(*value));
    } else if (const auto* value = attribute->get<std::vector<int64_t>>()) {
        c.set_output(0, list_tensor(*value));
    } else if (const auto* value = attribute->get<std::vector<std::string>>()) {
        c.set_output(0, Tensor::of_strings({static_cast<int64_t>(value->size())}, *value));
    } else if (const auto* value = attribute->get<ir::SparseTensor>()) {
        SDX_ASSIGN(Tensor dense, ir::densified(*value, c.options().max_bytes));
        c.set_output(0, std::move(dense));
    } else {
        return Error{fmt::format("attribute `{}` gives no value", attribute->name)};
    }
    return {};
}

Status constant_of_shape(KernelContext& c) {
    SDX_ASSIGN(std::vector<int64_t> dims, c.ints(0));
    const Tensor* given = c.tensor_attribute("value");
    if (given != nullptr && given->count() != 1) {
        return Error{"the value must be one element"};
    }
    Tensor value = given != nullptr ? *given : Tensor::zeros(ElementType::kFloat, {});
    ElementType type = value.element_type();
    Tensor code = is_packed(type) ? unpacked(value) : value;
    SDX_ASSIGN(Tensor out, gather_view(c, code, {0, Dims(dims.size(), 0)}, dims));
    c.set_output(0, is_packed(type) ? packed(out, type) : out);
    return {};
}

Status range(KernelContext& c) {
    return visit(Numbers{}, c.type(0), [&]<typename T>() -> Status {
        for (size_t i = 0; i < 3; ++i) {
            if (c.tensor(i).count() != 1) {
                return Error{"start, limit and delta must be scalars"};
            }
        }
        using V = Compute<T>;
        V start = static_cast<V>(c.tensor(0).elements<T>()[0]);
        V limit = static_cast<V>(c.tensor(1).elements<T>()[0]);
        V delta = static_cast<V>(c.tensor(2).elements<T>()[0]);
        if (delta == V(0)) {
            return Error{"delta must not be 0"};
        }
        SDX_ASSIGN(Tensor * out, c.output(0, c.type(0), {range_length(start, limit, delta)}));
        using W = Wrapping<V>;
        int64_t i = 0;
        for (T& element : out->mutable_elements<T>()) {
            element = static_cast<T>(
                static_cast<V>(static_cast<W>(start) + static_cast<W>(i) * static_cast<W>(delta)));
            ++i;
        }
        return {};
    });
}

Status eye_like(KernelContext& c) {
    if (c.rank(0) != 2) {
        return Error{fmt::format("rank {} is not a matrix", c.rank(0))};
    }
    ElementType type =
        c.has_attribute("dtype") ? element_type_from_number(c.int_attribute("dtype")) : c.type(0);
    int64_t rows = c.dims(0)[0];
    int64_t columns = c.dims(0)[1];
    int64_t k = c.int_attribute("k");
    return visit(NumbersAndBools{}, type, [&]<typename T>() -> Status {
        SDX_ASSIGN(Tensor * out, c.output(0, type, c.dims(0)));
        fill_zero(*out);
        std::span<T> elements = out->mutable_elements<T>();
        int64_t first = std::max<int64_t>(0, k < -rows ? rows : -k);
        for (int64_t r = first; r < rows && k < columns - r; ++r) {
            elements[r * columns + r + k] = static_cast<T>(1.0f);
        }
        return {};
    });
}

}  // namespace sardonyx::eval::kernels
