// Names, texts and types as onnx.parser's text form says them, and what it has no words for.
// Internal to proto/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/document.h"

namespace sardonyx::proto {

class OnnxTextPhrases {
  public:
    // `is_shown`: people look at it, so that nothing may move a terminal's cursor.
    explicit OnnxTextPhrases(bool is_shown) : is_shown_(is_shown) {}

    // Something that results depend on, and that cannot be said.
    void refuse(std::string what) { problems_.push_back(std::move(what)); }
    const std::vector<std::string>& problems() const { return problems_; }
    // Something that they do not depend on: what it is, once for each.
    void leave_out(std::string_view what);
    // The same for a field, if it is there and no empty text.
    void leave_out(const Message& message, uint32_t number, std::string_view what);
    // Says what has been left out, as a line of its own; empty: nothing.
    std::string left_out() const;

    std::string literal(std::string_view text);
    // In quotes where it is no identifier, or looks like a type.
    std::string name_text(std::string_view name);
    // An identifier, and identifiers with points between them: what the form has no quotes for.
    std::string word(std::string_view name, std::string_view what);
    std::string dotted(std::string_view name, std::string_view what);
    // Of a float or double.
    std::string real_text(FieldKind kind, const Item& item);

    // Appends a TypeProto; false: it cannot be said.
    bool type_text(const Message& type, std::string& text);

  private:
    bool tensor_type_text(const Message& type, std::string& text);
    std::string dim_text(const Message& dim);

    bool is_shown_;
    std::vector<std::pair<std::string_view, int64_t>> left_out_;
    std::vector<std::string> problems_;
};

}  // namespace sardonyx::proto
