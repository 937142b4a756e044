#include "eager/call.h"

#include <algorithm>

#include "ops/standard.h"

namespace sardonyx::eager {

namespace {

const ir::Attribute* find(std::span<const ir::Attribute> attributes, std::string_view name) {
    auto found = std::find_if(attributes.begin(), attributes.end(),
                              [name](const ir::Attribute& one) { return one.name == name; });
    return found == attributes.end() ? nullptr : &*found;
}

}  // namespace

ElementType element_type_of(const RuntimeValue& value) {
    return value.is_tensor()     ? value.tensor().element_type()
           : value.is_sequence() ? value.sequence().element_type
                                 : ElementType::kUndefined;
}

std::optional<size_t> settled_output_count(const ops::Schema& schema,
                                           std::span<const RuntimeValue* const> inputs,
                                           std::span<const ir::Attribute> attributes) {
    if (schema.maximum_outputs == 1) {
        return 1;
    }
    if (!ops::is_standard(schema, "Split")) {
        return std::nullopt;
    }
    if (const ir::Attribute* parts = find(attributes, "num_outputs")) {
        return static_cast<size_t>(std::clamp<int64_t>(*parts->get<int64_t>(), 1, 1 << 20));
    }
    if (const ir::Attribute* sizes = find(attributes, "split")) {
        return std::max<size_t>(sizes->get<std::vector<int64_t>>()->size(), 1);
    }
    if (inputs.size() > 1 && inputs[1]->is_tensor()) {
        return static_cast<size_t>(std::max<int64_t>(inputs[1]->tensor().count(), 1));
    }
    return std::nullopt;
}

size_t output_count(const ops::Schema& schema, size_t wanted) {
    return wanted == 0 ? std::max<size_t>(schema.minimum_outputs, 1)
                       : std::min<size_t>(wanted, schema.maximum_outputs);
}

std::string no_implementation(std::string_view domain, std::string_view name) {
    return "`" + std::string(name) + "` of the domain `" + std::string(domain) +
           "` has no implementation to evaluate: it can be compiled only";
}

}  // namespace sardonyx::eager
