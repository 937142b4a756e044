// JSON read into one flat list of values, which are views of the text: what nobody asks for costs
// the scan alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace sardonyx {

class JsonItems;
class JsonValue;

// Of a text that must live as long. Where a member stands twice, the last one holds, as in Python.
class JsonDocument {
  public:
    struct Limits {
        size_t bytes = size_t{1} << 30U;
        int depth = 512;
    };
    // RFC 8259. Error: what is wrong, and at which byte.
    static Result<JsonDocument> parse(std::string_view text, Limits limits);
    static Result<JsonDocument> parse(std::string_view text) { return parse(text, Limits{}); }

    JsonValue root() const;

    enum class Kind : uint8_t { kNull, kBool, kNumber, kString, kList, kObject };
    struct Entry {
        Kind kind = Kind::kNull;
        bool is_escaped = false;  // a string with backslashes
        uint32_t begin = 0;       // of its text; of a string without the quotes
        uint32_t size = 0;
        uint32_t next = 0;  // the entry after all that is in it
    };

  private:
    friend class JsonItems;
    friend class JsonValue;
    friend class JsonParser;

    std::string_view text_;
    std::vector<Entry> entries_;  // values in their order; before each member, its name
};

// One value, or none: what is asked of another kind, and what is not there, is none, empty or 0.
class JsonValue {
  public:
    using Kind = JsonDocument::Kind;

    JsonValue() = default;
    JsonValue(const JsonDocument* document, uint32_t at) : document_(document), at_(at) {}

    bool exists() const { return document_ != nullptr; }
    explicit operator bool() const { return exists(); }
    bool is(Kind kind) const { return exists() && entry().kind == kind; }
    bool is_null() const { return is(Kind::kNull); }
    bool is_object() const { return is(Kind::kObject); }
    bool is_list() const { return is(Kind::kList); }
    bool is_string() const { return is(Kind::kString); }

    JsonValue operator[](std::string_view name) const;
    std::vector<std::pair<std::string, JsonValue>> members() const;
    JsonItems items() const;
    // Of an object with one member: its name, as it is written, and its value.
    std::string_view sole_name() const;
    JsonValue sole() const;
    size_t size() const;  // of members or items

    std::optional<bool> boolean() const;
    std::optional<int64_t> integer() const;  // that is written without a point or an exponent
    std::optional<double> number() const;
    std::optional<std::string> text() const;
    bool is_text(std::string_view text) const;  // as `text() == text`, without a copy
    // The text of JSON that it is, for messages.
    std::string_view source() const;

  private:
    const JsonDocument::Entry& entry() const { return document_->entries_[at_]; }
    std::string decoded() const;
    std::string_view raw() const;

    const JsonDocument* document_ = nullptr;
    uint32_t at_ = 0;
};

// The items of a list, which are found as they are gone through.
class JsonItems {
  public:
    class Iterator {
      public:
        JsonValue operator*() const { return {document_, at_}; }
        Iterator& operator++() {
            at_ = document_->entries_[at_].next;
            return *this;
        }
        bool operator==(const Iterator& other) const { return at_ == other.at_; }

      private:
        friend class JsonItems;
        Iterator(const JsonDocument* document, uint32_t at) : document_(document), at_(at) {}

        const JsonDocument* document_;
        uint32_t at_;
    };

    JsonItems() = default;

    Iterator begin() const { return {document_, begin_}; }
    Iterator end() const { return {document_, end_}; }
    bool empty() const { return begin_ == end_; }
    // In as many steps as there are items.
    size_t size() const;
    // None where there is no such item; in as many steps as stand before it.
    JsonValue operator[](size_t index) const {
        JsonItems rest = after(index);
        return rest.empty() ? JsonValue() : *rest.begin();
    }
    JsonItems after(size_t count) const;  // without the first ones

  private:
    friend class JsonValue;
    JsonItems(const JsonDocument* document, uint32_t begin, uint32_t end)
        : document_(document), begin_(begin), end_(end) {}

    const JsonDocument* document_ = nullptr;
    uint32_t begin_ = 0;
    uint32_t end_ = 0;
};

}  // namespace sardonyx
