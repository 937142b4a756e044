// UTF-8, one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sardonyx::syntax {

struct Utf8 {
    uint32_t code_point = 0;
    uint32_t length = 1;  // in bytes; 1 when invalid
    bool valid = false;
};

// The first character of `text`, which is not empty. Overlong forms and surrogates are invalid.
Utf8 decode_utf8(std::string_view text);

// Surrogates are encoded as they are (WTF-8).
void append_utf8(std::string* text, uint32_t code_point);

// The offset of the first byte that is not part of valid UTF-8, or npos.
size_t find_invalid_utf8(std::string_view text);

}  // namespace sardonyx::syntax
