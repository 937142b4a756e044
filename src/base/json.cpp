#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/utf8.h"

namespace sardonyx {

std::string json_string(std::string_view text, JsonText kind) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string result = "\"";
    for (size_t i = 0; i < text.size();) {
        size_t length = utf8_sequence_length(text.substr(i));
        char c = text[i];
        auto byte = static_cast<unsigned char>(c);
        if (length != 1) {
            bool is_replaced = length == 0 && kind != JsonText::kExact;
            length = std::max<size_t>(length, 1);
            result += is_replaced ? std::string_view("\xef\xbf\xbd") : text.substr(i, length);
            i += length;
            continue;
        }
        ++i;
        if (c == '"' || c == '\\') {
            result += '\\';
            result += c;
        } else if (c == '\n') {
            result += "\\n";
        } else if (byte < 0x20 ||
                   (kind == JsonText::kInPage && (c == '<' || c == '>' || c == '&'))) {
            result += "\\u00";
            result += kDigits[byte >> 4U];
            result += kDigits[byte & 15U];
        } else {
            result += c;
        }
    }
    return result + "\"";
}

JsonWriter& JsonWriter::key(std::string_view name) {
    begin_item();
    text_ += json_string(name) + ": ";
    follows_key_ = true;
    return *this;
}

JsonWriter& JsonWriter::value(double number) {
    return std::isfinite(number) ? put(fmt::format("{}", number)) : null();
}

std::string JsonWriter::take() {
    return std::exchange(text_, {}) + "\n";
}

JsonWriter& JsonWriter::open(char bracket) {
    begin_item();
    text_ += bracket;
    ++depth_;
    is_first_ = true;
    return *this;
}

JsonWriter& JsonWriter::close(char bracket) {
    --depth_;
    if (!is_first_) {
        text_ += '\n';
        text_.append(2 * depth_, ' ');
    }
    text_ += bracket;
    is_first_ = false;
    return *this;
}

JsonWriter& JsonWriter::put(std::string_view text) {
    begin_item();
    text_ += text;
    return *this;
}

// The place of a member or an element; nothing after a key.
void JsonWriter::begin_item() {
    if (std::exchange(follows_key_, false)) {
        return;
    }
    if (depth_ > 0) {
        text_ += is_first_ ? "\n" : ",\n";
        text_.append(2 * depth_, ' ');
    }
    is_first_ = false;
}

}  // namespace sardonyx
