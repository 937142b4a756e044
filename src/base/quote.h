// Quoting: any bytes as printable text on one line.
#pragma once

#include <string>
#include <string_view>

namespace sardonyx {

// `text` in double quotes. Quotes, backslashes and control characters are escaped as in Python and
// C; so is each byte that is not part of valid UTF-8 (\xNN).
std::string quoted(std::string_view text);

}  // namespace sardonyx
