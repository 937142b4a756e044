#include "ide/text.h"

#include <algorithm>

namespace sardonyx::ide {
namespace {

// The bytes of the code point at the beginning of the text: 1 for what is no UTF-8.
uint32_t sequence_length(std::string_view text) {
    auto lead = static_cast<unsigned char>(text[0]);
    uint32_t length = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 1;
    for (uint32_t i = 1; i < length; ++i) {
        if (i >= text.size() || (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
            return 1;
        }
    }
    return length;
}

uint32_t units(uint32_t length, Encoding encoding) {
    switch (encoding) {
        case Encoding::kUtf8:
            return length;
        case Encoding::kUtf16:
            return length == 4 ? 2 : 1;
        case Encoding::kUtf32:
            break;
    }
    return 1;
}

}  // namespace

LineTable::LineTable(std::string_view text) : text_(text), starts_{0} {
    for (size_t i = 0; i < text.size(); ++i) {
        bool is_end =
            text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
        if (is_end) {
            starts_.push_back(static_cast<uint32_t>(i + 1));
        }
    }
}

uint32_t LineTable::offset(Place place, Encoding encoding) const {
    if (place.line >= starts_.size()) {
        return static_cast<uint32_t>(text_.size());
    }
    uint32_t at = starts_[place.line];
    uint32_t passed = 0;
    while (at < text_.size() && text_[at] != '\n' && text_[at] != '\r') {
        uint32_t length = sequence_length(text_.substr(at));
        passed += units(length, encoding);
        if (passed > place.character) {
            break;
        }
        at += length;
    }
    return at;
}

Place LineTable::place(uint32_t offset, Encoding encoding) const {
    offset = std::min(offset, static_cast<uint32_t>(text_.size()));
    auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    Place result{static_cast<uint32_t>(after - starts_.begin() - 1), 0};
    for (uint32_t at = *(after - 1); at < offset;) {
        uint32_t length = sequence_length(text_.substr(at));
        if (at + length > offset) {
            break;
        }
        result.character += units(length, encoding);
        at += length;
    }
    return result;
}

}  // namespace sardonyx::ide
