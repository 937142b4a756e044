// Bytes as text: RFC 4648.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sardonyx {

// With the usual alphabet, and filled to a multiple of four.
std::string base64(std::string_view bytes);
// Both alphabets are understood, and the filling may be missing; nothing: it is not base64.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace sardonyx
