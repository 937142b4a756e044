// Names are quoted where onnx.parser would not take them, and texts as it reads them: a quote or
// backslash after a backslash, all other bytes as they are.
#include "proto/onnx_text_phrases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/quote.h"
#include "base/utf8.h"
#include "proto/onnx_text_words.h"
#include "proto/text_source.h"

namespace sardonyx::proto {
namespace {

bool opaque_text(const Message& opaque, std::string& text) {
    std::string_view domain = opaque.text(OpaqueField::kDomain);
    std::string_view name = opaque.text(OpaqueField::kName);
    text += fmt::format("opaque({}{}{})", domain, domain.empty() ? "" : ",", name);
    return (name.empty() || is_identifier(name)) && (domain.empty() || is_identifier(domain)) &&
           (domain.empty() || !name.empty());
}

}  // namespace

std::string OnnxTextPhrases::left_out() const {
    std::string line;
    for (const auto& [what, count] : left_out_) {
        line += line.empty() ? "# left out, because this form cannot express it: " : ", ";
        line += count == 1 ? std::string(what) : fmt::format("{} ({})", what, count);
    }
    return line.empty() ? line : line + "\n";
}

void OnnxTextPhrases::leave_out(std::string_view what) {
    for (auto& [known, count] : left_out_) {
        if (known == what) {
            ++count;
            return;
        }
    }
    left_out_.emplace_back(what, 1);
}
void OnnxTextPhrases::leave_out(const Message& message, uint32_t number, std::string_view what) {
    const Field* field = message.find(number);
    bool says_something =
        field != nullptr && !field->items.empty() &&
        (field->info->kind != FieldKind::kString || !field->items[0].bytes.empty());
    if (says_something) {
        leave_out(what);
    }
}

std::string OnnxTextPhrases::literal(std::string_view text) {
    if (!is_utf8(text)) {
        refuse("a text that is not UTF-8");
        return quoted(text);
    }
    if (!is_shown_ && text.find('\0') != std::string_view::npos) {
        refuse("a text with a NUL, at which onnx.parser ends");
    }
    std::string result = "\"";
    for (char c : text) {
        auto byte = static_cast<unsigned char>(c);
        if (is_shown_ && byte < 0x20 && c != '\n' && c != '\t') {
            refuse("a text with control characters, which are not shown");
            result += fmt::format("\\x{:02x}", byte);
            continue;
        }
        result += c == '"' || c == '\\' ? "\\" : "";
        result += c;
    }
    return result + '"';
}

std::string OnnxTextPhrases::name_text(std::string_view name) {
    return is_identifier(name) && !is_type_word(name) ? std::string(name) : literal(name);
}

std::string OnnxTextPhrases::word(std::string_view name, std::string_view what) {
    if (!is_identifier(name)) {
        refuse(fmt::format("{} {}", what, quoted(name)));
        return quoted(name);
    }
    return std::string(name);
}

std::string OnnxTextPhrases::dotted(std::string_view name, std::string_view what) {
    for (size_t start = 0; start <= name.size();) {
        size_t end = std::min(name.find('.', start), name.size());
        if (!is_identifier(name.substr(start, end - start))) {
            refuse(fmt::format("{} {}", what, quoted(name)));
            return quoted(name);
        }
        start = end + 1;
    }
    return std::string(name);
}

std::string OnnxTextPhrases::real_text(FieldKind kind, const Item& item) {
    bool is_double = kind == FieldKind::kDouble;
    bool is_nan = is_double ? std::isnan(item.float64()) : std::isnan(item.float32());
    if (is_nan) {
        uint64_t sign = is_double ? uint64_t{1} << 63U : uint64_t{1} << 31U;
        Item usual;
        special_float_item("nan", (item.bits & sign) != 0, kind, &usual);
        if (usual.bits != item.bits) {
            refuse("a NaN with a payload");
        }
    }
    return float_text(kind, item);
}

bool OnnxTextPhrases::type_text(const Message& type, std::string& text) {
    leave_out(type, TypeField::kDenotation, "denotations");
    auto inner = [&](const Item& item, uint32_t number) {
        const Item* element = item.message->item(number);
        return element != nullptr && type_text(*element->message, text);
    };
    if (const Item* tensor = type.item(TypeField::kTensor)) {
        return tensor_type_text(*tensor->message, text);
    }
    if (const Item* sparse = type.item(TypeField::kSparseTensor)) {
        text += "sparse_tensor(";
        bool is_said = tensor_type_text(*sparse->message, text);
        text += ')';
        return is_said;
    }
    if (const Item* sequence = type.item(TypeField::kSequence)) {
        text += "seq(";
        bool is_said = inner(*sequence, ContainerTypeField::kElement);
        text += ')';
        return is_said;
    }
    if (const Item* optional = type.item(TypeField::kOptional)) {
        text += "optional(";
        bool is_said = inner(*optional, ContainerTypeField::kElement);
        text += ')';
        return is_said;
    }
    if (const Item* map = type.item(TypeField::kMap)) {
        ElementType key = element_type_from_number(map->message->integer(MapTypeField::kKey));
        text += fmt::format("map({}, ", info(key).schema_name);
        bool is_said = inner(*map, MapTypeField::kValue) && key != ElementType::kUndefined;
        text += ')';
        return is_said;
    }
    const Item* opaque = type.item(TypeField::kOpaque);
    return opaque != nullptr && opaque_text(*opaque->message, text);
}

bool OnnxTextPhrases::tensor_type_text(const Message& type, std::string& text) {
    ElementType element = element_type_from_number(type.integer(TensorTypeField::kElementType));
    text += info(element).schema_name;
    const Item* shape = type.item(TensorTypeField::kShape);
    if (shape == nullptr) {
        text += "[]";
    } else if (std::span<const Item> dims = shape->message->items(ShapeField::kDim);
               !dims.empty()) {
        std::string list;
        for (const Item& dim : dims) {
            list += list.empty() ? "" : ",";
            list += dim_text(*dim.message);
        }
        text += fmt::format("[{}]", list);
    }
    return element != ElementType::kUndefined;
}

std::string OnnxTextPhrases::dim_text(const Message& dim) {
    leave_out(dim, DimField::kDenotation, "denotations");
    if (const Item* value = dim.item(DimField::kValue)) {
        return fmt::format("{}", value->integer());
    }
    const Item* parameter = dim.item(DimField::kParameter);
    return parameter == nullptr              ? "?"
           : is_identifier(parameter->bytes) ? std::string(parameter->bytes)
                                             : literal(parameter->bytes);
}

}  // namespace sardonyx::proto
