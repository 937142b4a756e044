// CategoryMapper and LabelEncoder: elements replaced by those of a table.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml_tables.h"
#include "eval/loops/strided.h"
#include "eval/loops/visit.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

using Keys =
    TypeList<Typed<ElementType::kFloat, float>, Typed<ElementType::kDouble, double>,
             Typed<ElementType::kInt16, int16_t>, Typed<ElementType::kInt32, int32_t>,
             Typed<ElementType::kInt64, int64_t>, Typed<ElementType::kString, std::string>>;

// The keys, and the values with that of all other elements behind them.
struct Encoder {
    ElementType type = ElementType::kUndefined;  // of the keys
    std::variant<std::monostate, KeyTable<float>, KeyTable<double>, KeyTable<int16_t>,
                 KeyTable<int32_t>, KeyTable<int64_t>, KeyTable<std::string>>
        keys;
    Tensor values;
};

Result<Encoder> make_encoder(const KernelContext& c, const Tensor& keys, const Tensor& values,
                             const Tensor& otherwise) {
    if (keys.element_type() != c.type(0) || keys.count() != values.count() ||
        otherwise.element_type() != values.element_type() || otherwise.count() != 1) {
        return Error{
            fmt::format("{} keys of {} and {} values of {} do not fit each other, or the "
                        "input {}",
                        keys.count(), name(keys.element_type()), values.count(),
                        name(values.element_type()), c.value(0).describe())};
    }
    Encoder encoder;
    encoder.type = keys.element_type();
    SDX_TRY(visit(Keys{}, encoder.type, [&]<typename T>() -> Status {
        encoder.keys.emplace<KeyTable<T>>(keys.elements<T>());
        return {};
    }));
    SDX_ASSIGN(encoder.values, c.scratch(values.element_type(), {values.count() + 1}));
    copy_elements(values, 0, encoder.values, 0, values.count());
    copy_elements(otherwise, 0, encoder.values, values.count(), 1);
    return encoder;
}

// Output 0: for each element the value of its key. The tables are made once in a plan: make(), of
// keys of the type of the input.
template <typename Make>
Status encode(KernelContext& c, Make make) {
    const Tensor& x = c.tensor(0);
    auto fits = [&](const Encoder& encoder) { return encoder.type == x.element_type(); };
    SDX_ASSIGN(std::shared_ptr<const Encoder> encoder, of_attributes<Encoder>(c, fits, make));
    const Tensor& values = encoder->values;
    SDX_ASSIGN(Tensor * out, c.output(0, values.element_type(), x.dims()));
    std::vector<int64_t> places(x.count());
    SDX_TRY(visit(Keys{}, x.element_type(), [&]<typename T>() -> Status {
        const auto& table = std::get<KeyTable<T>>(encoder->keys);
        std::span<const T> elements = x.elements<T>();
        for (size_t i = 0; i < elements.size(); ++i) {
            int64_t place = table.find(elements[i]);
            places[i] = place == KeyTable<T>::kNone ? values.count() - 1 : place;
        }
        return {};
    }));
    return visit(Keys{}, values.element_type(), [&]<typename V>() -> Status {
        std::span<const V> from = values.elements<V>();
        std::transform(places.begin(), places.end(), out->mutable_elements<V>().begin(),
                       [&](int64_t place) -> const V& { return from[place]; });
        return {};
    });
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
        return Error{fmt::format("exactly one list `{}_...` is needed, not {}", prefix, count)};
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
Result<Encoder> between_strings_and_ints(const KernelContext& c, const Tensor& strings,
                                         const Tensor& ints) {
    if (c.type(0) == ElementType::kString) {
        return make_encoder(c, strings, ints, Tensor::scalar(c.int_attribute("default_int64")));
    }
    return make_encoder(c, ints, strings, text(c.string_attribute("default_string")));
}

Result<Encoder> category_encoder(const KernelContext& c) {
    return between_strings_and_ints(c, strings_of(c.strings_attribute("cats_strings")),
                                    list_of(c.ints_attribute("cats_int64s")));
}

Result<Encoder> label_tables(const KernelContext& c) {
    if (c.version() < 2) {
        // A string stands for its place in the list, and back.
        Tensor strings = strings_of(c.strings_attribute("classes_strings"));
        std::vector<int64_t> numbers(strings.count());
        std::iota(numbers.begin(), numbers.end(), 0);
        return between_strings_and_ints(c, strings, list_of<int64_t>(numbers));
    }
    SDX_ASSIGN(Tensor keys, one_list(c, "keys"));
    SDX_ASSIGN(Tensor values, one_list(c, "values"));
    SDX_TRY(visit(Keys{}, values.element_type(), []<typename T>() -> Status { return {}; }));
    SDX_ASSIGN(Tensor otherwise, default_value(c, values.element_type()));
    return make_encoder(c, keys, values, otherwise);
}

}  // namespace

Status category_mapper(KernelContext& c) {
    return encode(c, [&] { return category_encoder(c); });
}

Status label_encoder(KernelContext& c) {
    return encode(c, [&] { return label_tables(c); });
}

}  // namespace sardonyx::eval::kernels
