// The texts that Python shows of objects that are known: str(), repr() and ascii(), to the letter.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

enum class Show : uint8_t { kStr, kRepr, kAscii };

// The text; nothing, and the reason, where it is not certain: none after a diagnostic.
std::optional<std::string> shown(Context& c, const Object& object, Show how, std::string& reason,
                                 syntax::Range range);

// The same as a string object; the error object after a diagnostic.
Object show(Context& c, const Object& object, Show how, syntax::Range range);

// Whether only Python itself knows its text.
bool is_shown_by_environment(const Object& object);

// repr() of a float.
std::string shown_float(double value);

}  // namespace sardonyx::elaborate
