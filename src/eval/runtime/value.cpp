#include "eval/runtime/value.h"

#include <fmt/format.h>

#include <string_view>
#include <unordered_set>

namespace sardonyx::eval {

namespace {

bool has_equal_keys(const Tensor& keys) {
    if (keys.element_type() == ElementType::kInt64) {
        std::span<const int64_t> all = keys.elements<int64_t>();
        return std::unordered_set<int64_t>(all.begin(), all.end()).size() != all.size();
    }
    std::span<const std::string> all = keys.elements<std::string>();
    return std::unordered_set<std::string_view>(all.begin(), all.end()).size() != all.size();
}

}  // namespace

Result<std::shared_ptr<const Map>> make_map(Tensor keys, Tensor values) {
    ElementType type = keys.element_type();
    if (type != ElementType::kInt64 && type != ElementType::kString) {
        return Error{fmt::format("the keys of a map are integers or strings, not {}", name(type))};
    }
    if (keys.rank() != 1 || values.rank() != 1 || keys.count() != values.count()) {
        return Error{fmt::format("a map has keys of {}[N] and N values, not {} and {}", name(type),
                                 keys.type().to_string(), values.type().to_string())};
    }
    if (has_equal_keys(keys)) {
        return Error{"a key of the map occurs twice"};
    }
    return std::make_shared<const Map>(Map{std::move(keys), std::move(values)});
}

std::string RuntimeValue::describe() const {
    if (is_tensor()) {
        return tensor().type().to_string();
    }
    if (is_sequence()) {
        return fmt::format("Sequence[{}] of {}", name(sequence().element_type),
                           sequence().items.size());
    }
    if (is_map()) {
        return fmt::format("Map[{}, {}] of {}", name(map().keys.element_type()),
                           name(map().values.element_type()), map().keys.count());
    }
    return "None";
}

}  // namespace sardonyx::eval
