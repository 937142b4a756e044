// Scripts as their callers see them: parameters and documentation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/analysis.h"
#include "ops/signature.h"

namespace sardonyx::ide {

struct ShownScript {
    std::string name;
    // As in the text, with annotations and defaults; "*" and "/" stand alone as there. Those that
    // are passed by keyword only are the attributes.
    std::vector<ops::ShownParameter> parameters;
    std::string result;  // " -> FLOAT[N]", or nothing
    std::string doc;     // without the indentation
};

// The script that a name of the file stands for; nothing: it is none. It lives as long as the
// analysis.
std::optional<ShownScript> shown_script(const Analysis& analysis, std::string_view name);

}  // namespace sardonyx::ide
