// Words, numbers and types of onnx.parser's text form. Internal to proto/.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "proto/fields.h"
#include "proto/onnx_text_words.h"
#include "proto/text_source.h"

namespace sardonyx::proto {

// Each function returns false after it has said why; what it reads goes into the message that it is
// given.
class OnnxTextScanner {
  public:
    OnnxTextScanner(std::string_view text, Document& document) : in(text), document(document) {}

    const std::string& error() const { return in.error(); }

  protected:
    // --- Fields ----------------------------------------------------------------------------------

    static Item& set(Message& target, uint32_t number) {
        Field& field = target.at(*target.info->find(number));
        if (field.info->is_repeated() || field.items.empty()) {
            field.items.emplace_back();
        }
        return field.items.back();
    }
    static void set_bytes(Message& target, uint32_t number, std::string_view bytes) {
        set(target, number).bytes = bytes;
    }
    static void set_integer(Message& target, uint32_t number, int64_t value) {
        set(target, number).bits = static_cast<uint64_t>(value);
    }
    Message& sub(Message& target, uint32_t number) {
        Item& item = set(target, number);
        if (item.message == nullptr) {
            item.message = document.make(*target.info->find(number)->message);
        }
        return *item.message;
    }

    bool take() { return document.take() || in.fail("there are too many values"); }

    // --- Words -----------------------------------------------------------------------------------

    void skip() { in.skip_space('#'); }
    char next() {
        skip();
        return in.peek();
    }
    bool matches(char c) {
        if (next() != c || in.at_end()) {
            return false;
        }
        in.skip(1);
        return true;
    }
    bool expect(char c) { return matches(c) || in.fail(std::string("`") + c + "` is missing"); }

    std::string_view peek_word() {
        skip();
        size_t place = in.place();
        std::string_view word = in.take_word();
        in.go_to(place);
        return word;
    }
    bool next_is_type() { return is_type_word(peek_word()); }

    bool word(std::string_view* result) {
        skip();
        *result = in.take_word();
        return !result->empty() || in.fail("a name is missing");
    }
    bool name(std::string_view* result) { return next() == '"' ? string(result) : word(result); }

    // What stands after a backslash stands for itself.
    bool string(std::string_view* result) {
        if (next() != '"') {
            return in.fail("a text in double quotes is missing");
        }
        in.skip(1);
        size_t start = in.place();
        std::string text;
        bool has_escape = false;
        while (in.peek() != '"') {
            if (in.peek() == '\\') {
                has_escape = true;
                in.skip(1);
            }
            if (in.at_end()) {
                return in.fail_at(start, "a text has no end");
            }
            text += in.take();
        }
        *result = has_escape ? document.keep(std::move(text)) : in.since(start);
        in.skip(1);
        return true;
    }

    // A number; `is_real`: it has a point or an exponent, or is `inf` or `nan`.
    struct Number {
        std::string_view text;
        bool is_negative = false, is_real = false, is_word = false;
        size_t place = 0;
    };
    bool number(Number* result) {
        skip();
        result->place = in.place();
        result->is_negative = matches('-');
        skip();
        result->is_word = is_number_word(in.rest().substr(0, 9));
        result->text = result->is_word       ? in.take_word()
                       : is_digit(in.peek()) ? in.take_decimal()
                                             : std::string_view();
        result->is_real =
            result->is_word || result->text.find_first_of(".eE") != std::string_view::npos;
        return !result->text.empty() || in.fail_at(result->place, "a number is missing");
    }
    bool real_item(const Number& number, FieldKind kind, Item* item) {
        return (number.is_word ? special_float_item(number.text, number.is_negative, kind, item)
                               : float_item(number.text, number.is_negative, kind, item)) ||
               in.fail_at(number.place, "a number is larger than its type reaches");
    }
    bool integer_of(const Number& number, FieldKind kind, Item* item) {
        if (number.is_real) {
            return in.fail_at(number.place, "a whole number is needed");
        }
        return integer_item(number.text, 10, number.is_negative, kind, item) ||
               in.fail_at(number.place, "a number is larger than its type reaches");
    }
    bool integer(int64_t* value) {
        Number read;
        Item item;
        if (!number(&read) || !integer_of(read, FieldKind::kInt64, &item)) {
            return false;
        }
        *value = item.integer();
        return true;
    }

    // item (`,` item)*
    template <typename Read>
    bool commas(Read read) {
        do {
            if (!take() || !read()) {
                return false;
            }
        } while (matches(','));
        return true;
    }

    // --- Types -----------------------------------------------------------------------------------

    bool type(Message& target) {
        std::string_view text;
        skip();
        size_t place = in.place();
        if (!in.descend() || !word(&text)) {
            return false;
        }
        bool is_right = false;
        if (element_type_of_word(text) != ElementType::kUndefined) {
            is_right = tensor_type(text, sub(target, TypeField::kTensor));
        } else if (text == "seq" || text == "optional") {
            uint32_t kind = text == "seq" ? TypeField::kSequence : TypeField::kOptional;
            Message& outer = sub(target, kind);
            is_right = expect('(') && type(sub(outer, ContainerTypeField::kElement)) && expect(')');
        } else if (text == "sparse_tensor") {
            is_right = expect('(') && word(&text) &&
                       tensor_type(text, sub(target, TypeField::kSparseTensor)) && expect(')');
        } else if (text == "map") {
            is_right = map_type(sub(target, TypeField::kMap));
        } else if (text == "opaque") {
            is_right = opaque_type(sub(target, TypeField::kOpaque));
        } else {
            in.fail_at(place, "there is no type `" + std::string(text) + "`");
        }
        in.ascend();
        return is_right;
    }

    bool element(std::string_view text, ElementType* type) {
        *type = element_type_of_word(text);
        return *type != ElementType::kUndefined ||
               in.fail("`" + std::string(text) + "` is not an element type");
    }

    // Without brackets: no dimension; empty ones: any number of dimensions.
    bool tensor_type(std::string_view text, Message& target) {
        ElementType type = ElementType::kUndefined;
        if (!element(text, &type)) {
            return false;
        }
        set_integer(target, TensorTypeField::kElementType, static_cast<int64_t>(type));
        if (!matches('[')) {
            sub(target, TensorTypeField::kShape);
            return true;
        }
        if (matches(']')) {
            return true;
        }
        Message& shape = sub(target, TensorTypeField::kShape);
        return commas([&] { return dim(sub(shape, ShapeField::kDim)); }) && expect(']');
    }

    bool dim(Message& target) {
        if (matches('?')) {
            return true;
        }
        std::string_view text;
        if (next() == '"' || !peek_word().empty()) {
            if (!name(&text)) {
                return false;
            }
            set_bytes(target, DimField::kParameter, text);
            return true;
        }
        int64_t value = 0;
        if (!integer(&value)) {
            return false;
        }
        set_integer(target, DimField::kValue, value);
        return true;
    }

    bool map_type(Message& target) {
        std::string_view text;
        ElementType key = ElementType::kUndefined;
        if (!expect('(') || !word(&text) || !element(text, &key) || !expect(',')) {
            return false;
        }
        set_integer(target, MapTypeField::kKey, static_cast<int64_t>(key));
        return type(sub(target, MapTypeField::kValue)) && expect(')');
    }

    // opaque(), opaque(name) and opaque(domain, name)
    bool opaque_type(Message& target) {
        if (!expect('(') || matches(')')) {
            return in.error().empty();
        }
        std::string first;
        std::string_view text;
        do {
            if (!word(&text)) {
                return false;
            }
            first += first.empty() ? "" : ".";
            first += text;
        } while (matches('.'));
        bool has_domain = matches(',');
        set_bytes(target, has_domain ? OpaqueField::kDomain : OpaqueField::kName,
                  document.keep(std::move(first)));
        if (has_domain) {
            if (!word(&text)) {
                return false;
            }
            set_bytes(target, OpaqueField::kName, text);
        }
        return expect(')');
    }

    TextSource in;
    Document& document;
};

}  // namespace sardonyx::proto
