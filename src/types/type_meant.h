// What a text that is no type stands for, at the end of the message that refuses it.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx {

// "; did you mean `DOUBLE[N,4]`?" for "float64[N,4]" and "DUOBLE[N,4]". Empty: it is not known.
std::string type_help(std::string_view text);

}  // namespace sardonyx
