// The arguments of a call.
#pragma once

#include <string_view>
#include <vector>

#include "elaborate/objects/object.h"

namespace sardonyx::elaborate {

struct KeywordArgument {
    std::string_view name;
    Object value;
    syntax::Range name_range;
    syntax::Range range;
};

struct Arguments {
    std::vector<Object> positional;
    std::vector<syntax::Range> ranges;  // of the positional ones
    std::vector<KeywordArgument> keywords;
    syntax::Range range;         // the whole call
    syntax::Range callee_range;  // what is called
    Symbol receiver;             // `op` in `op.Add(...)`; invalid: not a name

    const KeywordArgument* find(std::string_view name) const;
};

}  // namespace sardonyx::elaborate
