// Functions and classes as their callers see them: parameters and documentation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/analysis.h"
#include "ide/meaning.h"
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

// What a call passes: to a function, to a class that makes an instance, or to `__call__` of an
// instance; nothing: it is not known. It lives as long as the analysis.
std::optional<ShownScript> shown_call(const Analysis& analysis, const Meaning& meaning);
// The same of what names stand for at a place (meaning.h).
std::optional<ShownScript> shown_call(const Analysis& analysis, std::string_view names,
                                      uint32_t offset);

// A piece of source on one line.
std::string on_one_line(std::string_view source);

}  // namespace sardonyx::ide
