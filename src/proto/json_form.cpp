#include "proto/json_form.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "base/base64.h"
#include "base/json.h"
#include "base/stop.h"
#include "base/utf8.h"
#include "proto/text_source.h"

namespace sardonyx::proto {
namespace {

class JsonFormWriter {
  public:
    std::string out, error;

    void message(const Message& value, size_t indent) {
        stop_point();
        out += '{';
        bool is_first = true;
        for (const Field& field : value.fields) {
            if (field.items.empty()) {
                continue;
            }
            out += is_first ? "\n" : ",\n";
            is_first = false;
            out.append(indent + 2, ' ');
            out += fmt::format("\"{}\": ", field.info->name);
            items(field, indent + 2);
        }
        if (!is_first) {
            out += '\n';
            out.append(indent, ' ');
        }
        out += '}';
    }

  private:
    // Messages each begin a line; numbers and texts stand side by side.
    void items(const Field& field, size_t indent) {
        if (!field.info->is_repeated()) {
            item(*field.info, field.items[0], indent);
            return;
        }
        bool has_lines = field.info->kind == FieldKind::kMessage;
        out += '[';
        for (size_t i = 0; i < field.items.size(); ++i) {
            out += i == 0 ? "" : ",";
            if (has_lines) {
                out += '\n';
                out.append(indent + 2, ' ');
            } else {
                out += i == 0 ? "" : " ";
            }
            item(*field.info, field.items[i], indent + 2);
        }
        if (has_lines) {
            out += '\n';
            out.append(indent, ' ');
        }
        out += ']';
    }

    void item(const FieldInfo& info, const Item& value, size_t indent) {
        switch (info.kind) {
            case FieldKind::kMessage:
                message(*value.message, indent);
                break;
            case FieldKind::kString:
                if (!is_utf8(value.bytes)) {
                    error = fmt::format("`{}` is not UTF-8, which JSON is", info.name);
                }
                out += json_string(value.bytes);
                break;
            case FieldKind::kBytes:
                out += '"' + base64(value.bytes) + '"';
                break;
            case FieldKind::kFloat:
                number(std::isfinite(value.float32()), info.kind, value);
                break;
            case FieldKind::kDouble:
                number(std::isfinite(value.float64()), info.kind, value);
                break;
            case FieldKind::kInt32:
                out += fmt::format("{}", value.integer());
                break;
            case FieldKind::kInt64:  // as texts: JSON's numbers are doubles to many
                out += fmt::format("\"{}\"", value.integer());
                break;
            case FieldKind::kUint64:
                out += fmt::format("\"{}\"", value.bits);
                break;
            case FieldKind::kAttributeType:
            case FieldKind::kDataLocation:
                enumeration(info.kind, value.integer());
        }
    }

    void enumeration(FieldKind kind, int64_t value) {
        std::string_view name = enum_name(kind, value);
        out += name.empty() ? fmt::format("{}", value) : fmt::format("\"{}\"", name);
    }

    void number(bool is_finite, FieldKind kind, const Item& value) {
        std::string text = float_text(kind, value);
        if (is_finite) {
            out += text;
        } else {
            bool is_nan = text.back() == 'n';
            out += is_nan ? "\"NaN\"" : text[0] == '-' ? "\"-Infinity\"" : "\"Infinity\"";
        }
    }
};

class JsonFormReader {
  public:
    JsonFormReader(std::string_view text, Document& document) : in_(text), document_(document) {}

    bool read_all() {
        in_.skip_space();
        if (!message(document_.root())) {
            return false;
        }
        in_.skip_space();
        return in_.at_end() || in_.fail("there is more after the message");
    }
    const std::string& error() const { return in_.error(); }

  private:
    bool expect(char c) {
        in_.skip_space();
        if (in_.peek() != c) {
            return in_.fail(fmt::format("`{}` is missing", c));
        }
        in_.skip(1);
        return true;
    }

    // What follows an item: another one, or the end of the list.
    bool next(char close, bool* is_more) {
        in_.skip_space();
        *is_more = in_.peek() == ',';
        if (*is_more || in_.peek() == close) {
            in_.skip(1);
            return true;
        }
        return in_.fail(fmt::format("`,` or `{}` is missing", close));
    }

    bool at_end_of(char close) {
        in_.skip_space();
        if (in_.peek() != close) {
            return false;
        }
        in_.skip(1);
        return true;
    }

    bool message(Message& target) {
        stop_point();
        if (!in_.descend()) {
            return false;
        }
        if (!expect('{')) {
            return false;
        }
        bool is_more = !at_end_of('}');
        while (is_more) {
            if (!member(target) || !next('}', &is_more)) {
                return false;
            }
        }
        in_.ascend();
        return true;
    }

    bool member(Message& target) {
        in_.skip_space();
        size_t place = in_.place();
        std::string name;
        if (!string(&name)) {
            return false;
        }
        const FieldInfo* info = nullptr;
        for (const FieldInfo& field : target.info->fields) {
            info = field.name == name || is_json_name(name, field.name) ? &field : info;
        }
        if (info == nullptr) {
            return in_.fail_at(place, fmt::format("{} has no field `{}`", target.info->name, name));
        }
        if (!expect(':')) {
            return false;
        }
        in_.skip_space();
        if (in_.rest().substr(0, 4) == "null") {  // as if it were not there
            in_.skip(4);
            return true;
        }
        if (target.find(info->number) != nullptr) {
            return in_.fail_at(place, fmt::format("`{}` is given twice", name));
        }
        if (const Field* other = target.alternative_to(*info)) {
            return in_.fail_at(
                place, fmt::format("`{}` and `{}` are both given: only one of them can be", name,
                                   other->info->name));
        }
        return info->is_repeated() ? list(*info, target) : one(*info, target);
    }

    bool list(const FieldInfo& info, Message& target) {
        if (in_.peek() != '[') {
            return in_.fail(fmt::format("`{}` is a list", info.name));
        }
        in_.skip(1);
        bool is_more = !at_end_of(']');
        while (is_more) {
            in_.skip_space();
            if (!one(info, target) || !next(']', &is_more)) {
                return false;
            }
        }
        return true;
    }

    bool one(const FieldInfo& info, Message& target) {
        Item item;
        if (info.kind == FieldKind::kMessage) {
            item.message = document_.make(*info.message);
            if (!message(*item.message)) {
                return false;
            }
        } else if (!scalar(info, &item)) {
            return false;
        }
        target.at(info).items.push_back(item);
        return document_.take() || in_.fail("there are too many values");
    }

    bool scalar(const FieldInfo& info, Item* item) {
        size_t place = in_.place();
        std::string text;
        bool is_text = in_.peek() == '"';
        if (is_text && !string(&text)) {
            return false;
        }
        bool is_right = false;
        switch (info.kind) {
            case FieldKind::kString:
                is_right = is_text;
                item->bytes = document_.keep(std::move(text));
                break;
            case FieldKind::kBytes: {
                std::optional<std::string> bytes = from_base64(text);
                is_right = is_text && bytes.has_value();
                item->bytes = document_.keep(std::move(bytes).value_or(std::string()));
                break;
            }
            case FieldKind::kAttributeType:
            case FieldKind::kDataLocation:
                if (is_text && enum_value(info.kind, text) >= 0) {
                    item->bits = static_cast<uint64_t>(enum_value(info.kind, text));
                    return true;
                }
                is_right = !is_text && number(FieldKind::kInt32, item);
                break;
            default:
                is_right = is_text ? number_text(text, info.kind, item) : number(info.kind, item);
        }
        return is_right || in_.fail_at(place, fmt::format("`{}` is {}", info.name, wanted(info)));
    }

    static std::string_view wanted(const FieldInfo& info) {
        switch (info.kind) {
            case FieldKind::kInt32:
                return "a whole number of 32 bits";
            case FieldKind::kInt64:
                return "a whole number of 64 bits, as a text or a number";
            case FieldKind::kUint64:
                return "a whole number of 64 bits from 0, as a text or a number";
            case FieldKind::kFloat:
            case FieldKind::kDouble:
                return R"(a number that its type reaches, or "NaN", "Infinity" or "-Infinity")";
            case FieldKind::kBytes:
                return "a text of base64";
            case FieldKind::kAttributeType:
            case FieldKind::kDataLocation:
                return "a name of onnx.proto";
            default:
                return "a text";
        }
    }

    bool number_text(const std::string& text, FieldKind kind, Item* item) {
        bool is_float = kind == FieldKind::kFloat || kind == FieldKind::kDouble;
        if (is_float && (text == "NaN" || text == "Infinity" || text == "-Infinity")) {
            bool is_negative = text[0] == '-';
            return special_float_item(is_negative ? text.substr(1) : text, is_negative, kind, item);
        }
        TextSource inner(text);
        return number_of(inner, kind, item) && inner.at_end();
    }

    bool number(FieldKind kind, Item* item) { return number_of(in_, kind, item); }

    // A whole number may be written with a point and an exponent, too.
    static bool number_of(TextSource& in, FieldKind kind, Item* item) {
        bool is_negative = in.peek() == '-';
        in.skip(is_negative ? 1 : 0);
        std::string_view decimal = is_digit(in.peek()) ? in.take_decimal() : std::string_view();
        if (decimal.empty()) {
            return false;
        }
        if (kind == FieldKind::kFloat || kind == FieldKind::kDouble) {
            return float_item(decimal, is_negative, kind, item);
        }
        if (decimal.find_first_of(".eE") == std::string_view::npos) {
            return integer_item(decimal, 10, is_negative, kind, item);
        }
        constexpr double kExact = 9007199254740992;  // 2^53
        Item real;
        if (!float_item(decimal, false, FieldKind::kDouble, &real) || real.float64() > kExact ||
            real.float64() != std::floor(real.float64())) {
            return false;
        }
        std::string digits = fmt::format("{}", static_cast<int64_t>(real.float64()));
        return integer_item(digits, 10, is_negative, kind, item);
    }

    bool string(std::string* text) {
        if (!expect('"')) {
            return false;
        }
        while (in_.peek() != '"') {
            if (in_.at_end()) {
                return in_.fail("a text has no end");
            }
            if (static_cast<unsigned char>(in_.peek()) < 0x20) {
                return in_.fail("a text has a line break or another control character in it");
            }
            char c = in_.take();
            if (c != '\\') {
                *text += c;
            } else if (!escape(text)) {
                return false;
            }
        }
        in_.skip(1);
        return true;
    }

    bool escape(std::string* text) {
        constexpr std::string_view kLetters = "\"\\/bfnrt", kMeaning = "\"\\/\b\f\n\r\t";
        size_t place = in_.place();
        char c = in_.take();
        if (size_t found = kLetters.find(c); found != std::string_view::npos && c != '\0') {
            *text += kMeaning[found];
            return true;
        }
        uint32_t point = 0, low = 0;
        if (c != 'u' || !code_unit(&point)) {
            return in_.fail_at(place, "an escape that JSON does not have");
        }
        if (point >= 0xD800 && point < 0xDC00) {
            bool is_pair = in_.take() == '\\' && in_.take() == 'u' && code_unit(&low) &&
                           low >= 0xDC00 && low < 0xE000;
            point = 0x10000 + ((point - 0xD800) << 10U) + (low - 0xDC00);
            if (!is_pair) {
                return in_.fail_at(place, "half of a surrogate pair is not a character");
            }
        } else if (point >= 0xDC00 && point < 0xE000) {
            return in_.fail_at(place, "half of a surrogate pair is not a character");
        }
        append_utf8(point, *text);
        return true;
    }

    bool code_unit(uint32_t* unit) {
        *unit = 0;
        for (int i = 0; i < 4; ++i) {
            int digit = hex_digit(in_.take());
            if (digit < 0) {
                return false;
            }
            *unit = *unit << 4U | static_cast<uint32_t>(digit);
        }
        return true;
    }

    TextSource in_;
    Document& document_;
};

}  // namespace

Result<std::string> write_json(const Message& message) {
    JsonFormWriter writer;
    writer.message(message, 0);
    if (!writer.error.empty()) {
        return Error{writer.error};
    }
    return std::move(writer.out) + "\n";
}

Result<void> read_json(std::string_view text, Document& document) {
    JsonFormReader reader(text, document);
    return reader.read_all() ? Result<void>() : Result<void>(Error{reader.error()});
}

}  // namespace sardonyx::proto
