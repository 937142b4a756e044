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
    uint32_t units16 = 0, units32 = 0;
    for (uint32_t i = 0; i < text.size();) {
        if (marks_.empty() || i - marks_.back().offset >= kMarkDistance) {
            marks_.push_back({i, units16, units32});
        }
        uint32_t length = sequence_length(text.substr(i));
        bool is_end =
            text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
        if (is_end) {
            starts_.push_back(i + 1);
        }
        units16 += units(length, Encoding::kUtf16);
        units32 += 1;
        i += length;
    }
}

uint32_t LineTable::units_at(const Mark& mark, Encoding encoding) {
    switch (encoding) {
        case Encoding::kUtf8:
            return mark.offset;
        case Encoding::kUtf16:
            return mark.units16;
        case Encoding::kUtf32:
            break;
    }
    return mark.units32;
}

// From the beginning of a code point to that of the one that `end` is in.
uint32_t LineTable::units_between(uint32_t begin, uint32_t end, Encoding encoding) const {
    uint32_t count = 0;
    for (uint32_t at = begin; at < end;) {
        uint32_t length = sequence_length(text_.substr(at));
        if (at + length > end) {
            break;
        }
        count += units(length, encoding);
        at += length;
    }
    return count;
}

// All before the code point that the offset is in.
uint32_t LineTable::units_before(uint32_t offset, Encoding encoding) const {
    auto after = std::upper_bound(marks_.begin(), marks_.end(), offset,
                                  [](uint32_t at, const Mark& mark) { return at < mark.offset; });
    if (after == marks_.begin()) {
        return 0;
    }
    const Mark& mark = *(after - 1);
    return units_at(mark, encoding) + units_between(mark.offset, offset, encoding);
}

uint32_t LineTable::offset(Place place, Encoding encoding) const {
    if (place.line >= starts_.size()) {
        return static_cast<uint32_t>(text_.size());
    }
    uint32_t at = starts_[place.line];
    auto end = static_cast<uint32_t>(text_.size());  // of the line, without what ends it
    if (place.line + 1 < starts_.size()) {
        end = starts_[place.line + 1] - 1;
        end -= end > at && text_[end] == '\n' && text_[end - 1] == '\r' ? 1 : 0;
    }
    uint64_t passed = units_before(at, encoding);
    uint64_t wanted = passed + place.character;
    auto after = std::partition_point(marks_.begin(), marks_.end(), [&](const Mark& mark) {
        return mark.offset <= end && units_at(mark, encoding) <= wanted;
    });
    if (after != marks_.begin() && (after - 1)->offset > at) {
        at = (after - 1)->offset;
        passed = units_at(*(after - 1), encoding);
    }
    while (at < end) {
        uint32_t length = sequence_length(text_.substr(at));
        passed += units(length, encoding);
        if (passed > wanted) {
            break;
        }
        at += length;
    }
    return at;
}

Place LineTable::place(uint32_t offset, Encoding encoding) const {
    offset = std::min(offset, static_cast<uint32_t>(text_.size()));
    auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
    uint32_t begin = *(after - 1);
    uint32_t character = offset - begin <= kMarkDistance
                             ? units_between(begin, offset, encoding)
                             : units_before(offset, encoding) - units_before(begin, encoding);
    return {static_cast<uint32_t>(after - starts_.begin() - 1), character};
}

}  // namespace sardonyx::ide
