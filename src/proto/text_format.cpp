#include "proto/text_format.h"

#include <fmt/format.h>

#include "base/stop.h"
#include "base/utf8.h"
#include "proto/text_source.h"

namespace sardonyx::proto {
namespace {

// In double quotes; what is no UTF-8, and of bytes what is no ASCII, in octal digits.
std::string text_literal(std::string_view text, bool is_bytes) {
    std::string out = "\"";
    bool keeps = !is_bytes && is_utf8(text);
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        constexpr std::string_view kSpecial = "\"\\'\n\r\t", kLetters = "\"\\'nrt";
        if (size_t found = kSpecial.find(c); found != std::string_view::npos) {
            out += '\\';
            out += kLetters[found];
        } else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !keeps)) {
            out += fmt::format("\\{:03o}", byte);
        } else {
            out += c;
        }
    }
    return out + '"';
}

class TextFormatWriter {
  public:
    std::string out;

    void fields(const Message& value, size_t indent) {
        stop_point();
        for (const Field& field : value.fields) {
            for (const Item& item : field.items) {
                out.append(indent, ' ');
                out += field.info->name;
                if (field.info->kind == FieldKind::kMessage) {
                    out += " {\n";
                    fields(*item.message, indent + 2);
                    out.append(indent, ' ');
                    out += "}\n";
                } else {
                    out += ": " + scalar(field.info->kind, item) + "\n";
                }
            }
        }
    }

  private:
    static std::string scalar(FieldKind kind, const Item& item) {
        switch (kind) {
            case FieldKind::kString:
            case FieldKind::kBytes:
                return text_literal(item.bytes, kind == FieldKind::kBytes);
            case FieldKind::kFloat:
            case FieldKind::kDouble: {
                std::string text = float_text(kind, item);
                return text == "-nan" ? "nan" : text;  // as protobuf has it
            }
            case FieldKind::kUint64:
                return fmt::format("{}", item.bits);
            case FieldKind::kAttributeType:
            case FieldKind::kDataLocation: {
                std::string_view name = enum_name(kind, item.integer());
                return name.empty() ? fmt::format("{}", item.integer()) : std::string(name);
            }
            default:
                return fmt::format("{}", item.integer());
        }
    }
};

class TextFormatReader {
  public:
    TextFormatReader(std::string_view text, Document& document) : in_(text), document_(document) {}

    bool read_all() { return fields(document_.root(), '\0'); }
    const std::string& error() const { return in_.error(); }

  private:
    void skip() { in_.skip_space('#'); }

    bool fields(Message& target, char close) {
        stop_point();
        for (skip(); in_.at_end() || in_.peek() != close; skip()) {
            if (in_.at_end()) {
                return close == '\0' || in_.fail(fmt::format("`{}` is missing", close));
            }
            if (!field(target)) {
                return false;
            }
            skip();
            in_.skip(in_.peek() == ',' || in_.peek() == ';' ? 1 : 0);
        }
        in_.skip(1);
        return true;
    }

    bool field(Message& target) {
        size_t place = in_.place();
        std::string_view name = in_.take_word();
        if (name.empty()) {
            return in_.fail("the name of a field is missing");
        }
        const FieldInfo* info = target.info->find(name);
        if (info == nullptr) {
            return in_.fail_at(place, fmt::format("{} has no field `{}`", target.info->name, name));
        }
        if (const Field* other = target.alternative_to(*info)) {
            return in_.fail_at(
                place, fmt::format("`{}` and `{}` are both given: only one of them can be", name,
                                   other->info->name));
        }
        skip();
        bool has_colon = in_.peek() == ':';
        in_.skip(has_colon ? 1 : 0);
        skip();
        if (!has_colon && info->kind != FieldKind::kMessage) {
            return in_.fail(fmt::format("`:` is missing after `{}`", name));
        }
        if (in_.peek() == '[' && info->is_repeated()) {
            return list(*info, target);
        }
        return one(*info, target, place);
    }

    bool list(const FieldInfo& info, Message& target) {
        in_.skip(1);
        skip();
        if (in_.peek() == ']') {
            in_.skip(1);
            return true;
        }
        while (true) {
            skip();
            if (!one(info, target, in_.place())) {
                return false;
            }
            skip();
            char c = in_.take();
            if (c == ']') {
                return true;
            }
            if (c != ',') {
                return in_.fail("`,` or `]` is missing");
            }
        }
    }

    bool one(const FieldInfo& info, Message& target, size_t place) {
        if (!info.is_repeated() && target.find(info.number) != nullptr) {
            return in_.fail_at(place, fmt::format("`{}` is given twice", info.name));
        }
        Item item;
        if (info.kind == FieldKind::kMessage) {
            char open = in_.peek();
            if (open != '{' && open != '<') {
                return in_.fail("`{` is missing");
            }
            in_.skip(1);
            item.message = document_.make(*info.message);
            if (!in_.descend() || !fields(*item.message, open == '{' ? '}' : '>')) {
                return false;
            }
            in_.ascend();
        } else if (!scalar(info, &item)) {
            return false;
        }
        target.at(info).items.push_back(item);
        return document_.take() || in_.fail("there are too many values");
    }

    bool scalar(const FieldInfo& info, Item* item) {
        size_t place = in_.place();
        if (info.kind == FieldKind::kString || info.kind == FieldKind::kBytes) {
            std::string text;
            if (!strings(&text)) {
                return false;
            }
            if (info.kind == FieldKind::kString && !is_utf8(text)) {
                return in_.fail_at(place, fmt::format("`{}` is not UTF-8", info.name));
            }
            item->bytes = document_.keep(std::move(text));
            return true;
        }
        bool is_negative = in_.peek() == '-';
        in_.skip(is_negative ? 1 : 0);
        skip();
        bool is_right = info.kind == FieldKind::kFloat || info.kind == FieldKind::kDouble
                            ? real(info.kind, is_negative, item)
                            : whole(info.kind, is_negative, item);
        return is_right || in_.fail_at(place, fmt::format("the value does not fit the type of `{}`",
                                                          info.name));
    }

    bool real(FieldKind kind, bool is_negative, Item* item) {
        if (std::string_view word = in_.take_word(); !word.empty()) {
            // The form has one NaN, without a sign: what is written for it is read as it was.
            bool is_nan = (word[0] | 0x20) == 'n';
            return special_float_item(word, is_negative && !is_nan, kind, item);
        }
        std::string_view decimal = in_.take_decimal();
        bool is_right = !decimal.empty() && float_item(decimal, is_negative, kind, item);
        in_.skip((in_.peek() | 0x20) == 'f' ? 1 : 0);
        return is_right && ends_number();
    }

    bool whole(FieldKind kind, bool is_negative, Item* item) {
        bool is_enum = kind == FieldKind::kAttributeType || kind == FieldKind::kDataLocation;
        if (is_enum && !is_digit(in_.peek())) {
            int64_t value = enum_value(kind, in_.take_word());
            item->bits = static_cast<uint64_t>(value);
            return value >= 0 && !is_negative;
        }
        int base = 10;
        if (in_.peek() == '0' && (in_.peek(1) | 0x20) == 'x') {
            base = 16;
            in_.skip(2);
        } else if (in_.peek() == '0' && is_digit(in_.peek(1))) {
            base = 8;
        }
        size_t start = in_.place();
        while (hex_digit(in_.peek()) >= 0 && hex_digit(in_.peek()) < base) {
            in_.skip(1);
        }
        return integer_item(in_.since(start), base, is_negative, is_enum ? FieldKind::kInt32 : kind,
                            item) &&
               ends_number();
    }

    bool ends_number() const {
        char c = in_.peek(), lower = static_cast<char>(c | 0x20);
        return !is_digit(c) && c != '.' && c != '_' && !(lower >= 'a' && lower <= 'z');
    }

    // Texts one behind the other are one.
    bool strings(std::string* text) {
        if (in_.peek() != '"' && in_.peek() != '\'') {
            return in_.fail("a text in quotes is missing");
        }
        while (in_.peek() == '"' || in_.peek() == '\'') {
            char quote = in_.take();
            while (in_.peek() != quote || in_.at_end()) {
                if (in_.at_end() || in_.peek() == '\n') {
                    return in_.fail("a text has no end");
                }
                char c = in_.take();
                if (c != '\\') {
                    *text += c;
                } else if (!escape(text)) {
                    return false;
                }
            }
            in_.skip(1);
            skip();
        }
        return true;
    }

    bool escape(std::string* text) {
        constexpr std::string_view kLetters = "abfnrtv\\'\"?", kMeaning = "\a\b\f\n\r\t\v\\'\"?";
        size_t place = in_.place();
        char c = in_.peek();
        if (c >= '0' && c <= '7') {
            uint32_t value = digits(8, 3);
            *text += static_cast<char>(value);
            return value < 256 || in_.fail_at(place, "an octal escape is larger than a byte");
        }
        in_.skip(1);
        if (size_t found = kLetters.find(c); found != std::string_view::npos && c != '\0') {
            *text += kMeaning[found];
            return true;
        }
        size_t start = in_.place();
        if ((c | 0x20) == 'x') {
            *text += static_cast<char>(digits(16, 2));
            return in_.place() != start || in_.fail_at(place, "`\\x` has no digits");
        }
        if (c == 'u' || c == 'U') {
            size_t wanted = c == 'u' ? 4 : 8;
            uint32_t point = digits(16, wanted);
            bool is_character = in_.place() - start == wanted && point < 0x110000 &&
                                (point < 0xD800 || point > 0xDFFF);
            append_utf8(is_character ? point : 0xFFFD, *text);
            return is_character || in_.fail_at(place, "an escape that is not a character");
        }
        return in_.fail_at(place, "an escape that the text format does not have");
    }

    // Up to so many digits.
    uint32_t digits(int base, size_t most) {
        uint32_t value = 0;
        for (size_t i = 0; i < most; ++i) {
            int digit = hex_digit(in_.peek());
            if (digit < 0 || digit >= base) {
                break;
            }
            value = value * static_cast<uint32_t>(base) + static_cast<uint32_t>(digit);
            in_.skip(1);
        }
        return value;
    }

    TextSource in_;
    Document& document_;
};

}  // namespace

std::string write_text_format(const Message& message) {
    TextFormatWriter writer;
    writer.fields(message, 0);
    return std::move(writer.out);
}

Result<void> read_text_format(std::string_view text, Document& document) {
    TextFormatReader reader(text, document);
    return reader.read_all() ? Result<void>() : Result<void>(Error{reader.error()});
}

}  // namespace sardonyx::proto
