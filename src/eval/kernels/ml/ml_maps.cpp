// The operators of ai.onnx.ml with maps: CastMap, DictVectorizer, ZipMap.
#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "eval/kernels/cast.h"
#include "eval/kernels/ml/ml_tables.h"
#include "eval/loops/strided.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval::kernels {
namespace {

Result<const Map*> map_input(const KernelContext& c) {
    if (!c.value(0).is_map()) {
        return Error{fmt::format("the input is {}, but must be a map", c.value(0).describe())};
    }
    const Map& map = c.value(0).map();
    ElementType type = map.keys.element_type();
    if ((type != ElementType::kInt64 && type != ElementType::kString) ||
        map.keys.count() != map.values.count() || is_packed(map.values.element_type())) {
        return Error{
            fmt::format("{} has keys that are neither INT64 nor STRING, or not a value "
                        "for each",
                        c.value(0).describe())};
    }
    return &map;
}

Result<ElementType> cast_target(const KernelContext& c) {
    std::string_view target = c.string_attribute("cast_to");
    if (target != "TO_FLOAT" && target != "TO_STRING" && target != "TO_INT64") {
        return Error{fmt::format("cast_to `{}` is not known", target)};
    }
    return target == "TO_FLOAT"    ? ElementType::kFloat
           : target == "TO_STRING" ? ElementType::kString
                                   : ElementType::kInt64;
}

// The places of the keys; one of the two.
struct Vocabulary {
    std::optional<KeyTable<std::string>> strings;
    std::optional<KeyTable<int64_t>> ints;
};

Result<Vocabulary> make_vocabulary(std::span<const std::string> strings,
                                   std::span<const int64_t> ints) {
    Vocabulary vocabulary;
    if (strings.empty()) {
        vocabulary.ints.emplace(ints);
    } else {
        vocabulary.strings.emplace(strings);
    }
    size_t distinct =
        strings.empty() ? vocabulary.ints->distinct() : vocabulary.strings->distinct();
    if (distinct != strings.size() + ints.size()) {
        return Error{"the vocabulary has an entry twice"};
    }
    return vocabulary;
}

// The values to the places of their keys.
template <typename T>
Status vectorize(const Map& map, const KeyTable<T>& places, Tensor* out) {
    std::span<const T> keys = map.keys.elements<T>();
    for (size_t i = 0; i < keys.size(); ++i) {
        int64_t place = places.find(keys[i]);
        if (place == KeyTable<T>::kNone) {
            return Error{fmt::format("key `{}` is not in the vocabulary", keys[i])};
        }
        copy_elements(map.values, static_cast<int64_t>(i), *out, place, 1);
    }
    return {};
}

}  // namespace

// The values in the order of their keys (DENSE), or each at the place that its key names (SPARSE);
// one row, as in ONNX Runtime.
Status cast_map(KernelContext& c) {
    SDX_ASSIGN(const Map* map, map_input(c));
    SDX_ASSIGN(ElementType target, cast_target(c));
    std::string_view form = c.string_attribute("map_form");
    bool is_sparse = form == "SPARSE";
    if (!is_sparse && form != "DENSE") {
        return Error{fmt::format("map_form `{}` is not known", form)};
    }
    if (map->keys.element_type() != ElementType::kInt64) {
        return Error{
            fmt::format("the input is {}, but its keys must be INT64", c.value(0).describe())};
    }
    SDX_ASSIGN(Tensor values, cast_tensor(c, map->values, target));
    std::span<const int64_t> keys = map->keys.elements<int64_t>();
    int64_t width = is_sparse ? c.int_attribute("max_map") : map->keys.count();
    SDX_ASSIGN(Tensor * out, c.output(0, target, {1, width}));
    fill_zero(*out);
    std::vector<int64_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return keys[a] < keys[b]; });
    for (size_t i = 0; i < order.size(); ++i) {
        int64_t key = keys[order[i]];
        if (is_sparse && (key < 0 || key >= width)) {
            return Error{fmt::format("key {} is out of range for max_map {}", key, width)};
        }
        copy_elements(values, order[i], *out, is_sparse ? key : static_cast<int64_t>(i), 1);
    }
    return {};
}

// One row, as in ONNX Runtime; keys that the map lacks are 0 or "".
Status dict_vectorizer(KernelContext& c) {
    SDX_ASSIGN(const Map* map, map_input(c));
    std::span<const std::string> strings = c.strings_attribute("string_vocabulary");
    std::span<const int64_t> ints = c.ints_attribute("int64_vocabulary");
    bool is_string = map->keys.element_type() == ElementType::kString;
    if (strings.empty() == ints.empty() || is_string == strings.empty()) {
        return Error{fmt::format("exactly one vocabulary is needed, for the keys of {}",
                                 c.value(0).describe())};
    }
    auto fits = [](const Vocabulary&) { return true; };
    SDX_ASSIGN(std::shared_ptr<const Vocabulary> places,
               of_attributes<Vocabulary>(c, fits, [&] { return make_vocabulary(strings, ints); }));
    auto width = static_cast<int64_t>(is_string ? strings.size() : ints.size());
    SDX_ASSIGN(Tensor * out, c.output(0, map->values.element_type(), {1, width}));
    fill_zero(*out);
    return is_string ? vectorize(*map, *places->strings, out) : vectorize(*map, *places->ints, out);
}

Status zip_map(KernelContext& c) {
    const Dims& dims = c.dims(0);
    std::span<const std::string> strings = c.strings_attribute("classlabels_strings");
    std::span<const int64_t> ints = c.ints_attribute("classlabels_int64s");
    auto width = static_cast<int64_t>(strings.empty() ? ints.size() : strings.size());
    if (strings.empty() == ints.empty() || dims.empty() || dims.size() > 2 ||
        dims.back() != width) {
        return Error{fmt::format("exactly one list of labels is needed, of the width of {}",
                                 to_string(dims))};
    }
    Tensor keys = strings.empty() ? Tensor::of<int64_t>({width}, ints)
                                  : Tensor::of_strings({width}, {strings.begin(), strings.end()});
    auto sequence = std::make_shared<Sequence>();
    int64_t rows = dims.size() == 2 ? dims[0] : 1;
    SDX_ASSIGN(Tensor values, c.scratch(ElementType::kFloat, {rows * width}));
    copy_elements(c.tensor(0), 0, values, 0, rows * width);
    sequence->items.reserve(static_cast<size_t>(rows));
    for (int64_t i = 0; i < rows; ++i) {
        sequence->items.emplace_back(
            std::make_shared<const Map>(Map{keys, values.part(i * width, {width})}));
    }
    c.set_output(0, std::shared_ptr<const Sequence>(std::move(sequence)));
    return {};
}

}  // namespace sardonyx::eval::kernels
