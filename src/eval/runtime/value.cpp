#include "eval/runtime/value.h"

#include <fmt/format.h>

namespace sardonyx::eval {

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
