#include "base/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

#include "base/decimal.h"
#include "base/utf8.h"

namespace sardonyx {
namespace {

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

// Where the first character is, from `at` on, that ends a string or needs a look: a quote, a
// backslash, a control character. Eight bytes at a time, since files consist of strings: a byte of
// `(word - 0x01..) & ~word & 0x80..` is not 0 if the byte of the word is 0, or a lower one is; so
// the lowest that is not 0 tells the place.
size_t end_of_plain(std::string_view text, size_t at) {
    constexpr uint64_t kOnes = 0x0101010101010101U, kHigh = 0x8080808080808080U;
    auto has_zero = [](uint64_t word) { return (word - kOnes) & ~word & kHigh; };
    while (at + 8 <= text.size()) {
        uint64_t word = 0;
        std::memcpy(&word, text.data() + at, 8);
        uint64_t special = has_zero(word ^ (kOnes * '"')) | has_zero(word ^ (kOnes * '\\')) |
                           ((word - kOnes * 0x20) & ~word & kHigh);
        if (special != 0) {
            if constexpr (std::endian::native == std::endian::little) {
                return at + static_cast<size_t>(std::countr_zero(special)) / 8;
            }
            break;
        }
        at += 8;
    }
    auto is_plain = [](char c) {
        return c != '"' && c != '\\' && static_cast<unsigned char>(c) >= 0x20;
    };
    while (at < text.size() && is_plain(text[at])) {
        ++at;
    }
    return at;
}

// The four digits after `\u`, which the parser has seen.
uint32_t code_unit(std::string_view digits) {
    uint32_t code = 0;
    std::from_chars(digits.data(), digits.data() + 4, code, 16);
    return code;
}

}  // namespace

class JsonParser {
  public:
    JsonParser(JsonDocument& document, JsonDocument::Limits limits)
        : text_(document.text_), entries_(document.entries_), limits_(limits) {}

    // What is wrong; empty: nothing.
    std::string_view parse() {
        if (!value(0)) {
            return wrong_;
        }
        skip();
        return at_ == text_.size() ? std::string_view() : "there is more after the value";
    }
    size_t place() const { return at_; }

  private:
    using Kind = JsonDocument::Kind;

    bool fail(std::string_view words) {
        wrong_ = words;
        return false;
    }
    char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    void skip() {
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' ||
                                      text_[at_] == '\t' || text_[at_] == '\r')) {
            ++at_;
        }
    }
    size_t begin(Kind kind) {
        entries_.push_back({kind, false, static_cast<uint32_t>(at_), 0, 0});
        return entries_.size() - 1;
    }
    bool end(size_t entry) {
        entries_[entry].size = static_cast<uint32_t>(at_) - entries_[entry].begin;
        entries_[entry].next = static_cast<uint32_t>(entries_.size());
        return true;
    }

    bool value(int depth) {
        skip();
        switch (peek()) {
            case '{':
                return members(depth);
            case '[':
                return items(depth);
            case '"':
                return string();
            case 't':
                return word("true", Kind::kBool);
            case 'f':
                return word("false", Kind::kBool);
            case 'n':
                return word("null", Kind::kNull);
            default:
                return number();
        }
    }

    bool word(std::string_view expected, Kind kind) {
        if (text_.substr(at_, expected.size()) != expected) {
            return fail("this is no value");
        }
        size_t entry = begin(kind);
        at_ += expected.size();
        return end(entry);
    }

    bool digits() {
        size_t first = at_;
        while (is_digit(peek())) {
            ++at_;
        }
        return at_ > first || fail("this is no value");
    }

    bool number() {
        size_t entry = begin(Kind::kNumber);
        at_ += peek() == '-' ? 1 : 0;
        bool is_zero = peek() == '0';
        if (!digits()) {
            return false;
        }
        if (is_zero &&
            at_ - entries_[entry].begin > (text_[entries_[entry].begin] == '-' ? 2 : 1)) {
            return fail("a number begins with 0");
        }
        if (peek() == '.') {
            ++at_;
            if (!digits()) {
                return false;
            }
        }
        if (peek() == 'e' || peek() == 'E') {
            ++at_;
            at_ += peek() == '+' || peek() == '-' ? 1 : 0;
            if (!digits()) {
                return false;
            }
        }
        return end(entry);
    }

    bool escape() {
        constexpr std::string_view kLetters = "\"\\/bfnrt";
        char letter = peek();
        ++at_;
        if (letter != 'u') {
            return (letter != '\0' && kLetters.find(letter) != std::string_view::npos) ||
                   fail("this is no escape");
        }
        for (int i = 0; i < 4; ++i) {
            char c = peek();
            if (!is_digit(c) && !(c >= 'a' && c <= 'f') && !(c >= 'A' && c <= 'F')) {
                return fail("this is no escape");
            }
            ++at_;
        }
        return true;
    }

    bool string() {
        ++at_;
        size_t entry = begin(Kind::kString);
        for (at_ = end_of_plain(text_, at_); peek() == '\\'; at_ = end_of_plain(text_, at_)) {
            ++at_;
            entries_[entry].is_escaped = true;
            if (!escape()) {
                return false;
            }
        }
        if (at_ < text_.size() && text_[at_] != '"') {
            return fail("a string has a control character");
        }
        if (at_ == text_.size()) {
            return fail("a string has no end");
        }
        end(entry);
        ++at_;
        return true;
    }

    bool members(int depth) {
        if (depth >= limits_.depth) {
            return fail("its values are nested too deeply");
        }
        size_t entry = begin(Kind::kObject);
        ++at_;
        skip();
        for (bool is_first = true; peek() != '}'; is_first = false) {
            if (!is_first && peek() != ',') {
                return fail("`,` or `}` is missing");
            }
            at_ += is_first ? 0 : 1;
            skip();
            if (peek() != '"') {
                return fail("a member has no name");
            }
            if (!string()) {
                return false;
            }
            skip();
            if (peek() != ':') {
                return fail("`:` is missing");
            }
            ++at_;
            if (!value(depth + 1)) {
                return false;
            }
            skip();
        }
        ++at_;
        return end(entry);
    }

    bool items(int depth) {
        if (depth >= limits_.depth) {
            return fail("its values are nested too deeply");
        }
        size_t entry = begin(Kind::kList);
        ++at_;
        skip();
        for (bool is_first = true; peek() != ']'; is_first = false) {
            if (!is_first && peek() != ',') {
                return fail("`,` or `]` is missing");
            }
            at_ += is_first ? 0 : 1;
            if (!value(depth + 1)) {
                return false;
            }
            skip();
        }
        ++at_;
        return end(entry);
    }

    std::string_view text_;
    std::vector<JsonDocument::Entry>& entries_;
    JsonDocument::Limits limits_;
    size_t at_ = 0;
    std::string_view wrong_;
};

Result<JsonDocument> JsonDocument::parse(std::string_view text, Limits limits) {
    if (text.size() > limits.bytes || text.size() > UINT32_MAX / 2) {
        return Error{fmt::format("it has more than {} bytes", limits.bytes)};
    }
    JsonDocument document;
    document.text_ = text;
    constexpr size_t kTypicalBytes = 12;  // for each value
    document.entries_.reserve(text.size() / kTypicalBytes + 1);
    JsonParser parser(document, limits);
    if (std::string_view wrong = parser.parse(); !wrong.empty()) {
        return Error{fmt::format("{}, at byte {}", wrong, parser.place())};
    }
    return document;
}

JsonValue JsonDocument::root() const {
    return {this, 0};
}

std::string_view JsonValue::raw() const {
    return document_->text_.substr(entry().begin, entry().size);
}

std::string JsonValue::decoded() const {
    std::string_view rest = raw();
    if (!entry().is_escaped) {
        return std::string(rest);
    }
    std::string text;
    text.reserve(rest.size());
    while (!rest.empty()) {
        size_t plain = std::min(rest.find('\\'), rest.size());
        text += rest.substr(0, plain);
        rest.remove_prefix(plain);
        if (rest.empty()) {
            break;
        }
        constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
        if (rest[1] != 'u') {
            text += kMeanings[kLetters.find(rest[1])];
            rest.remove_prefix(2);
            continue;
        }
        uint32_t code = code_unit(rest.substr(2));
        rest.remove_prefix(6);
        bool is_high = code >= 0xD800 && code < 0xDC00;
        if (is_high && rest.size() >= 6 && rest[0] == '\\' && rest[1] == 'u') {
            uint32_t low = code_unit(rest.substr(2));
            if (low >= 0xDC00 && low < 0xE000) {
                code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
                rest.remove_prefix(6);
            }
        }
        constexpr uint32_t kReplacement = 0xFFFD;
        append_utf8(text, code >= 0xD800 && code < 0xE000 ? kReplacement : code);
    }
    return text;
}

JsonValue JsonValue::operator[](std::string_view name) const {
    if (!is_object()) {
        return {};
    }
    JsonValue found;
    for (uint32_t at = at_ + 1; at < entry().next;) {
        JsonValue key(document_, at);
        JsonValue value(document_, at + 1);
        if (key.is_text(name)) {
            found = value;
        }
        at = value.entry().next;
    }
    return found;
}

std::vector<std::pair<std::string, JsonValue>> JsonValue::members() const {
    std::vector<std::pair<std::string, JsonValue>> all;
    if (!is_object()) {
        return all;
    }
    for (uint32_t at = at_ + 1; at < entry().next;) {
        JsonValue value(document_, at + 1);
        all.emplace_back(JsonValue(document_, at).decoded(), value);
        at = value.entry().next;
    }
    return all;
}

JsonItems JsonValue::items() const {
    return is_list() ? JsonItems(document_, at_ + 1, entry().next) : JsonItems();
}

size_t JsonItems::size() const {
    size_t count = 0;
    for (Iterator one = begin(); one != end(); ++one) {
        ++count;
    }
    return count;
}

JsonItems JsonItems::after(size_t count) const {
    Iterator first = begin();
    for (size_t i = 0; i < count && first != end(); ++i) {
        ++first;
    }
    return {document_, first.at_, end_};
}

JsonValue JsonValue::sole() const {
    if (!is_object() || at_ + 1 >= entry().next) {
        return {};
    }
    JsonValue value(document_, at_ + 2);
    return value.entry().next == entry().next ? value : JsonValue();
}

std::string_view JsonValue::sole_name() const {
    return sole() ? JsonValue(document_, at_ + 1).raw() : std::string_view();
}

size_t JsonValue::size() const {
    if (!is_object()) {
        return items().size();
    }
    size_t count = 0;
    for (uint32_t at = at_ + 1; at < entry().next; at = document_->entries_[at + 1].next) {
        ++count;
    }
    return count;
}

std::optional<bool> JsonValue::boolean() const {
    return is(Kind::kBool) ? std::optional<bool>(raw() == "true") : std::nullopt;
}

std::optional<int64_t> JsonValue::integer() const {
    if (!is(Kind::kNumber)) {
        return std::nullopt;
    }
    int64_t value = 0;
    std::string_view digits = raw();
    auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    bool is_whole = error == std::errc() && rest == digits.data() + digits.size();
    return is_whole ? std::optional<int64_t>(value) : std::nullopt;
}

std::optional<double> JsonValue::number() const {
    if (!is(Kind::kNumber)) {
        return std::nullopt;
    }
    std::string_view digits = raw();
    bool is_negative = digits[0] == '-';
    double value = nearest_double(digits.substr(is_negative ? 1 : 0));
    return is_negative ? -value : value;
}

bool JsonValue::is_text(std::string_view text) const {
    return is_string() && (entry().is_escaped ? decoded() == text : raw() == text);
}

std::optional<std::string> JsonValue::text() const {
    return is_string() ? std::optional<std::string>(decoded()) : std::nullopt;
}

std::string_view JsonValue::source() const {
    return exists() ? raw() : std::string_view();
}

}  // namespace sardonyx
