// CategoryMapper and LabelEncoder: elements replaced by those of a table.
#include <cmath>
#include <string>
#include <unordered_map>

#include <fmt/format.h>

#include "eval/kernel.h"
#include "eval/kernels/cast.h"
#include "eval/kernels/strided.h"
#include "eval/kernels/visit.h"

namespace sardonyx::eval::kernels {
namespace {

using Keys =
    TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kDouble, double>,
             Typed<ElementType::kInt16, int16_t>, Typed<ElementType::kInt32, int32_t>,
             Typed<ElementType::kInt64, int64_t>, Typed<ElementType::kString, std::string>>;

// Where each element of `x` stands among the keys; the last of equal keys counts, nan equals nan,
// and what is no key stands behind the last.
template <typename T>
std::vector<int64_t> places(std::span<const T> keys, std::span<const T> x) {
    std::unordered_map<T, int64_t> table;
    auto count = static_cast<int64_t>(keys.size());
    int64_t nan = count;
    auto is_nan = [](const T& value) {
        if constexpr (std::is_floating_point_v<T>) {
            return std::isnan(value);
        } else {
            return false;
        }
    };
    for (int64_t i = 0; i < count; ++i) {
        if (is_nan(keys[i])) {
            nan = i;
        } else {
            table[keys[i]] = i;
        }
    }
    std::vector<int64_t> result;
    result.reserve(x.size());
    for (const T& value : x) {
        auto found = table.find(value);
        result.push_back(is_nan(value) ? nan : found == table.end() ? count : found->second);
    }
    return result;
}

// Output 0: for each element the value of its key, or the one of `otherwise`.
Status encode(KernelContext& c, const Tensor& keys, const Tensor& values, const Tensor& otherwise) {
    const Tensor& x = c.tensor(0);
    if (keys.element_type() != x.element_type() || keys.count() != values.count() ||
        otherwise.element_type() != values.element_type() || otherwise.count() != 1) {
        return Error{
            fmt::format("{} keys of {} and {} values of {} do not fit each other, or the "
                        "input {}",
                        keys.count(), name(keys.element_type()), values.count(),
                        name(values.element_type()), c.value(0).describe())};
    }
    std::vector<int64_t> found;
    SDX_TRY(visit(Keys{}, x.element_type(), [&]<typename T>() -> Status {
        found = places(keys.elements<T>(), x.elements<T>());
        return {};
    }));
    SDX_ASSIGN(Tensor * out, c.output(0, values.element_type(), x.dims()));
    for (size_t i = 0; i < found.size(); ++i) {
        bool is_known = found[i] < keys.count();
        copy_elements(is_known ? values : otherwise, is_known ? found[i] : 0, *out,
                      static_cast<int64_t>(i), 1);
    }
    return {};
}

template <typename T>
Tensor list_of(std::span<const T> items) {
    return Tensor::of<T>({static_cast<int64_t>(items.size())}, items);
}
Tensor strings_of(std::span<const std::string> items) {
    return Tensor::of_strings({static_cast<int64_t>(items.size())}, {items.begin(), items.end()});
}

// The one list among `keys_floats`, `keys_int64s`, `keys_strings`, `keys_tensor`.
Result<Tensor> one_list(const KernelContext& c, const std::string& prefix) {
    Tensor list;
    int count = 0;
    auto see = [&](std::string_view type) {
        bool is_there = c.has_attribute(prefix + std::string(type));
        count += is_there ? 1 : 0;
        return is_there;
    };
    if (see("_floats")) {
        list = list_of(c.floats_attribute(prefix + "_floats"));
    }
    if (see("_int64s")) {
        list = list_of(c.ints_attribute(prefix + "_int64s"));
    }
    if (see("_strings")) {
        list = strings_of(c.strings_attribute(prefix + "_strings"));
    }
    if (see("_tensor")) {
        const Tensor* tensor = c.tensor_attribute(prefix + "_tensor");
        list = tensor != nullptr ? *tensor : Tensor();
    }
    if (count != 1 || !list.is_valid()) {
        return Error{fmt::format("one list `{}_...` is wanted, not {}", prefix, count)};
    }
    return list;
}

Tensor text(std::string_view value) {
    return Tensor::of_strings({}, {std::string(value)});
}

// What the `default_...` of this type says.
Result<Tensor> default_value(const KernelContext& c, ElementType type) {
    if (const Tensor* tensor = c.tensor_attribute("default_tensor")) {
        return *tensor;
    }
    if (type == ElementType::kString) {
        return text(c.string_attribute("default_string"));
    }
    bool is_float = type == ElementType::kFloat || type == ElementType::kDouble;
    return cast_tensor(c,
                       is_float ? Tensor::scalar(c.float_attribute("default_float"))
                                : Tensor::scalar(c.int_attribute("default_int64")),
                       type);
}

// Between the strings of a list and numbers, in the direction that the input asks for.
Status between_strings_and_ints(KernelContext& c, const Tensor& strings, const Tensor& ints) {
    if (c.type(0) == ElementType::kString) {
        return encode(c, strings, ints, Tensor::scalar(c.int_attribute("default_int64")));
    }
    return encode(c, ints, strings, text(c.string_attribute("default_string")));
}

}  // namespace

Status category_mapper(KernelContext& c) {
    return between_strings_and_ints(c, strings_of(c.strings_attribute("cats_strings")),
                                    list_of(c.ints_attribute("cats_int64s")));
}

Status label_encoder(KernelContext& c) {
    if (c.version() < 2) {
        // A string stands for its place in the list, and back.
        Tensor strings = strings_of(c.strings_attribute("classes_strings"));
        std::vector<int64_t> numbers(strings.count());
        for (size_t i = 0; i < numbers.size(); ++i) {
            numbers[i] = static_cast<int64_t>(i);
        }
        return between_strings_and_ints(c, strings, list_of<int64_t>(numbers));
    }
    SDX_ASSIGN(Tensor keys, one_list(c, "keys"));
    SDX_ASSIGN(Tensor values, one_list(c, "values"));
    SDX_TRY(visit(Keys{}, values.element_type(), []<typename T>() -> Status { return {}; }));
    SDX_ASSIGN(Tensor otherwise, default_value(c, values.element_type()));
    return encode(c, keys, values, otherwise);
}

}  // namespace sardonyx::eval::kernels
