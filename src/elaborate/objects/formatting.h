// Formatting by a specification, as format(), f-strings and `%` do it.
#pragma once

#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// text % values, as in "%d of %s" % (a, b): static values alone.
Object format_percent(Context& c, const std::string& text, const Object& values,
                      syntax::Range range);

// format(object, spec); the error object after a diagnostic.
Object format_object(Context& c, const Object& object, std::string_view spec, syntax::Range range);

inline constexpr size_t kMostWidth = 10'000;

size_t count_code_points(std::string_view text);

// Python Library Reference, "Format Specification Mini-Language".
struct FormatSpec {
    std::string fill = " ";
    char align = 0;
    bool has_sign = false;
    char sign = '-';
    bool alternate = false;
    bool zero = false;  // `0` before the width: the fill, and for numbers the alignment `=`
    size_t width = 0;
    char grouping = 0;
    int precision = -1;
    char type = 0;
};

std::string padded(const FormatSpec& spec, const std::string& prefix, const std::string& body,
                   char default_align);

}  // namespace sardonyx::elaborate
