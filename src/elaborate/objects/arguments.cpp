// The arguments of a call.

#include "elaborate/objects/arguments.h"

#include "ops/schema_set.h"

namespace sardonyx::elaborate {

const KeywordArgument* Arguments::find(std::string_view name) const {
    for (const KeywordArgument& keyword : keywords) {
        if (keyword.name == name) {
            return &keyword;
        }
    }
    return nullptr;
}

}  // namespace sardonyx::elaborate
