#include "proto/onnx_text_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "base/quote.h"
#include "base/stop.h"
#include "ir/ir.h"
#include "proto/onnx_text_scanner.h"
#include "proto/onnx_text_words.h"

namespace sardonyx::proto {
namespace {

using ir::AttributeType;

// What an attribute says its elements are, and the lists of them that there are words for.
AttributeType element_of(AttributeType type) {
    switch (type) {
        case AttributeType::kFloats:
            return AttributeType::kFloat;
        case AttributeType::kInts:
            return AttributeType::kInt;
        case AttributeType::kStrings:
            return AttributeType::kString;
        default:
            return type;
    }
}

bool is_list(AttributeType type) {
    return type == AttributeType::kTensors || type == AttributeType::kGraphs ||
           type == AttributeType::kSparseTensors || type == AttributeType::kTypeProtos ||
           element_of(type) != type;
}

// A production of the grammar is a function.
class OnnxTextReader : private OnnxTextScanner {
  public:
    using OnnxTextScanner::error;
    using OnnxTextScanner::OnnxTextScanner;

    // model: `<` keys `>` graph function*
    bool model(Message& target) {
        if (matches('<') && !keys(target, kModelKeys)) {
            return false;
        }
        if (!named_graph(sub(target, ModelField::kGraph))) {
            return false;
        }
        for (skip(); !in.at_end(); skip()) {
            if (!function(sub(target, ModelField::kFunctions))) {
                return false;
            }
        }
        return true;
    }

  private:
    // --- Headers ---------------------------------------------------------------------------------

    enum class KeyKind : uint8_t { kText, kInteger, kOpsets, kEntries };
    struct Key {
        std::string_view name;
        uint32_t number;
        KeyKind kind;
    };
    static constexpr Key kModelKeys[] = {
        {"ir_version", ModelField::kIrVersion, KeyKind::kInteger},
        {"opset_import", ModelField::kOpsetImport, KeyKind::kOpsets},
        {"producer_name", ModelField::kProducerName, KeyKind::kText},
        {"producer_version", ModelField::kProducerVersion, KeyKind::kText},
        {"domain", ModelField::kDomain, KeyKind::kText},
        {"model_version", ModelField::kModelVersion, KeyKind::kInteger},
        {"doc_string", ModelField::kDoc, KeyKind::kText},
        {"metadata_props", ModelField::kMetadata, KeyKind::kEntries},
    };
    static constexpr Key kFunctionKeys[] = {
        {"opset_import", FunctionField::kOpsetImport, KeyKind::kOpsets},
        {"doc_string", FunctionField::kDoc, KeyKind::kText},
        {"domain", FunctionField::kDomain, KeyKind::kText},
        {"overload", FunctionField::kOverload, KeyKind::kText},
    };

    bool keys(Message& target, std::span<const Key> known) {
        return commas([&] { return key(target, known); }) && expect('>');
    }

    bool key(Message& target, std::span<const Key> known) {
        std::string_view name;
        skip();
        size_t place = in.place();
        if (!word(&name)) {
            return false;
        }
        const Key* found = std::find_if(known.data(), known.data() + known.size(),
                                        [&](const Key& row) { return row.name == name; });
        if (found == known.data() + known.size()) {
            return in.fail_at(place, fmt::format("there is no key `{}`", name));
        }
        if (!expect(':')) {
            return false;
        }
        std::string_view text;
        int64_t value = 0;
        switch (found->kind) {
            case KeyKind::kText:
                if (!string(&text)) {
                    return false;
                }
                set_bytes(target, found->number, text);
                return true;
            case KeyKind::kInteger:
                if (!integer(&value)) {
                    return false;
                }
                set_integer(target, found->number, value);
                return true;
            case KeyKind::kOpsets:
                return opset_imports(target, found->number);
            case KeyKind::kEntries:
                return entries(target, found->number);
        }
        return false;
    }

    bool opset_imports(Message& target, uint32_t number) {
        if (!expect('[')) {
            return false;
        }
        auto read = [&] {
            std::string_view domain;
            int64_t version = 0;
            if (!string(&domain) || !expect(':') || !integer(&version)) {
                return false;
            }
            Message& import = sub(target, number);
            set_bytes(import, OpsetImportField::kDomain, domain);
            set_integer(import, OpsetImportField::kVersion, version);
            return true;
        };
        return matches(']') || (commas(read) && expect(']'));
    }

    bool entries(Message& target, uint32_t number) {
        if (!expect('[')) {
            return false;
        }
        auto read = [&] {
            std::string_view key, value;
            if (!string(&key) || !expect(':') || !string(&value)) {
                return false;
            }
            Message& entry = sub(target, number);
            set_bytes(entry, EntryField::kKey, key);
            set_bytes(entry, EntryField::kValue, value);
            return true;
        };
        return matches(']') || (commas(read) && expect(']'));
    }

    // --- Functions and graphs --------------------------------------------------------------------

    bool arrow() {
        skip();
        if (in.rest().substr(0, 2) != "=>") {
            return in.fail("`=>` is missing");
        }
        in.skip(2);
        return true;
    }

    bool function(Message& target) {
        std::string_view text;
        if ((matches('<') && !keys(target, kFunctionKeys)) || !name(&text)) {
            return false;
        }
        set_bytes(target, FunctionField::kName, text);
        if (matches('<') && !(commas([&] { return function_attribute(target); }) && expect('>'))) {
            return false;
        }
        if (!function_values(target, FunctionField::kInput) || !arrow() ||
            !function_values(target, FunctionField::kOutput)) {
            return false;
        }
        auto stated = [&] { return value_info(sub(target, FunctionField::kValueInfo)); };
        if (matches('<') && !matches('>') && !(commas(stated) && expect('>'))) {
            return false;
        }
        return nodes(target, FunctionField::kNode);
    }

    bool function_attribute(Message& target) {
        std::string_view text;
        if (!name(&text)) {
            return false;
        }
        if (next() == ':' || in.peek() == '=') {
            return attribute_from_type(text, sub(target, FunctionField::kAttributeProto));
        }
        set_bytes(target, FunctionField::kAttribute, text);
        return true;
    }

    // Names, each with a type before it or without one.
    bool function_values(Message& target, uint32_t number) {
        if (!expect('(')) {
            return false;
        }
        auto read = [&] {
            Message* info = next_is_type() ? &sub(target, FunctionField::kValueInfo) : nullptr;
            std::string_view text;
            if ((info != nullptr && !type(sub(*info, ValueInfoField::kType))) || !name(&text)) {
                return false;
            }
            if (info != nullptr) {
                set_bytes(*info, ValueInfoField::kName, text);
            }
            set_bytes(target, number, text);
            return true;
        };
        return matches(')') || (commas(read) && expect(')'));
    }

    bool named_graph(Message& target) {
        std::string_view text;
        if (!name(&text)) {
            return false;
        }
        set_bytes(target, GraphField::kName, text);
        if (!in.descend() || (next() == '(' && !graph_inputs(target)) || !arrow() ||
            !graph_outputs(target) || !graph_values(target) || !nodes(target, GraphField::kNode)) {
            return false;
        }
        in.ascend();
        return true;
    }

    bool graph_inputs(Message& target) {
        in.skip(1);
        auto read = [&] {
            Message& input = sub(target, GraphField::kInput);
            return value_info(input) && (!matches('=') || initializer(target, input));
        };
        return matches(')') || (commas(read) && expect(')'));
    }

    bool graph_outputs(Message& target) {
        auto read = [&] { return value_info(sub(target, GraphField::kOutput)); };
        return expect('(') && (matches(')') || (commas(read) && expect(')')));
    }

    // Initializers and types of inner values.
    bool graph_values(Message& target) {
        auto read = [&] {
            Message& value = *document.make(kValueInfoProto);
            if (!value_info(value)) {
                return false;
            }
            if (matches('=')) {
                return initializer(target, value);
            }
            set(target, GraphField::kValueInfo).message = &value;
            return true;
        };
        return !matches('<') || matches('>') || (commas(read) && expect('>'));
    }

    bool initializer(Message& target, const Message& value) {
        Message& tensor = sub(target, GraphField::kInitializer);
        set_bytes(tensor, TensorField::kName, value.text(ValueInfoField::kName));
        const Item* type = value.item(ValueInfoField::kType);
        return type == nullptr ? in.fail("a tensor needs its type before its name")
                               : tensor_data(*type->message, tensor);
    }

    bool value_info(Message& target) {
        std::string_view text;
        if ((next_is_type() && !type(sub(target, ValueInfoField::kType))) || !name(&text)) {
            return false;
        }
        set_bytes(target, ValueInfoField::kName, text);
        return true;
    }

    // --- Nodes -----------------------------------------------------------------------------------

    bool nodes(Message& target, uint32_t number) {
        if (!expect('{')) {
            return false;
        }
        while (!matches('}')) {
            stop_point();
            if (!take() || !node(sub(target, number))) {
                return false;
            }
        }
        return true;
    }

    bool node(Message& target) {
        std::string_view text;
        if (matches('[')) {
            if (next() != ']' && !name(&text)) {
                return false;
            }
            set_bytes(target, NodeField::kName, text);
            if (!expect(']')) {
                return false;
            }
        }
        if (!values(target, NodeField::kOutput) || !expect('=') || !operator_name(target) ||
            !attributes(target) || !expect('(') || !values(target, NodeField::kInput) ||
            !expect(')')) {
            return false;
        }
        return target.find(NodeField::kAttribute) != nullptr || attributes(target);
    }

    bool operator_name(Message& target) {
        std::string domain;
        std::string_view text;
        if (!word(&text)) {
            return false;
        }
        while (matches('.')) {
            domain += domain.empty() ? "" : ".";
            domain += text;
            if (!word(&text)) {
                return false;
            }
        }
        set_bytes(target, NodeField::kOpType, text);
        if (!domain.empty()) {
            set_bytes(target, NodeField::kDomain, document.keep(std::move(domain)));
        }
        if (matches(':')) {
            if (!word(&text)) {
                return false;
            }
            set_bytes(target, NodeField::kOverload, text);
        }
        return true;
    }

    // Names with commas between them. One that is left out is empty; after the last comma there is
    // none.
    bool values(Message& target, uint32_t number) {
        auto read = [&](bool* is_there) {
            std::string_view text;
            if (next() == '"') {
                *is_there = true;
                if (!string(&text)) {
                    return false;
                }
            } else {
                text = in.take_word();
                *is_there = !text.empty() || next() == ',';
            }
            if (*is_there) {
                set_bytes(target, number, text);
            }
            return take();
        };
        bool is_there = true;
        do {
            if (!read(&is_there)) {
                return false;
            }
        } while (is_there && matches(','));
        return true;
    }

    // --- Attributes ------------------------------------------------------------------------------

    bool attributes(Message& target) {
        if (!matches('<')) {
            return true;
        }
        auto read = [&] {
            std::string_view text;
            return word(&text) && attribute_from_type(text, sub(target, NodeField::kAttribute));
        };
        return commas(read) && expect('>');
    }

    // [`:` type] `=` value
    bool attribute_from_type(std::string_view name, Message& target) {
        set_bytes(target, AttributeField::kName, name);
        auto said = AttributeType::kUndefined;
        if (matches(':')) {
            std::string_view text;
            skip();
            size_t place = in.place();
            if (!word(&text)) {
                return false;
            }
            const auto* found =
                std::find(std::begin(kAttributeWords), std::end(kAttributeWords), text);
            if (found == std::end(kAttributeWords)) {
                return in.fail_at(place, fmt::format("there is no type `{}` of attributes", text));
            }
            said = static_cast<AttributeType>(found - std::begin(kAttributeWords) + 1);
        }
        if (!expect('=')) {
            return false;
        }
        skip();
        size_t place = in.place();
        AttributeType type = said;
        if (!(next() == '[' ? list_value(said, target, &type) : value(said, target, &type))) {
            return false;
        }
        set_integer(target, AttributeField::kType, static_cast<int64_t>(type));
        bool fits = said == AttributeType::kUndefined || said == type ||
                    (element_of(type) == said && type != said);  // `int` before a list of them
        return fits ||
               in.fail_at(place, fmt::format("the attribute `{}` is of another type", name));
    }

    bool list_value(AttributeType said, Message& target, AttributeType* type) {
        in.skip(1);
        if (matches(']')) {
            *type = said;
            return is_list(said) ||
                   in.fail("an empty list needs its type, as in `axes: ints = []`");
        }
        auto of = AttributeType::kUndefined;
        auto read = [&] {
            skip();
            size_t place = in.place();
            AttributeType one = AttributeType::kUndefined;
            if (next() == '@' || !scalar(element_of(said), ScalarIs::kElement, target, &one)) {
                return in.fail_at(place, "lists are of numbers or texts in this form");
            }
            bool fits = of == AttributeType::kUndefined || of == one;
            of = one;
            return fits || in.fail_at(place, "a list has elements of one type");
        };
        if (!commas(read) || !expect(']')) {
            return false;
        }
        *type = of == AttributeType::kFloat ? AttributeType::kFloats
                : of == AttributeType::kInt ? AttributeType::kInts
                                            : AttributeType::kStrings;
        return true;
    }

    // A number or text as the attribute's value, or as one more of a list.
    enum class ScalarIs : uint8_t { kValue, kElement };
    bool scalar(AttributeType said, ScalarIs what, Message& target, AttributeType* type) {
        bool is_element = what == ScalarIs::kElement;
        if (next() == '"') {
            *type = AttributeType::kString;
            std::string_view text;
            if (!string(&text)) {
                return false;
            }
            set_bytes(target, is_element ? AttributeField::kStrings : AttributeField::kString,
                      text);
            return true;
        }
        Number read;
        if (!number(&read)) {
            return false;
        }
        bool is_real = read.is_real || said == AttributeType::kFloat;
        *type = is_real ? AttributeType::kFloat : AttributeType::kInt;
        Item item;
        if (!(is_real ? real_item(read, FieldKind::kFloat, &item)
                      : integer_of(read, FieldKind::kInt64, &item))) {
            return false;
        }
        uint32_t one = is_real ? AttributeField::kFloat : AttributeField::kInt;
        uint32_t many = is_real ? AttributeField::kFloats : AttributeField::kInts;
        set(target, is_element ? many : one) = item;
        return true;
    }

    bool value(AttributeType said, Message& target, AttributeType* type) {
        std::string_view text;
        if (matches('@')) {
            if (!name(&text)) {
                return false;
            }
            set_bytes(target, AttributeField::kReference, text);
            return said != AttributeType::kUndefined ||
                   in.fail("a parameter needs its type, as in `alpha: float = @alpha`");
        }
        std::string_view first = peek_word();
        if (first.empty() || is_number_word(in.rest().substr(0, 9))) {
            return scalar(said, ScalarIs::kValue, target, type);
        }
        if (!is_type_word(first)) {
            *type = AttributeType::kGraph;
            return named_graph(sub(target, AttributeField::kGraph));
        }
        Message& read = *document.make(kTypeProto);
        if (!this->type(read)) {
            return false;
        }
        bool is_tensor = next() == '{' || in.peek() == '=' || !peek_word().empty();
        *type = is_tensor ? AttributeType::kTensor : AttributeType::kTypeProto;
        if (!is_tensor) {
            set(target, AttributeField::kTypeProto).message = &read;
            return true;
        }
        Message& tensor = sub(target, AttributeField::kTensor);
        if (!peek_word().empty()) {
            set_bytes(tensor, TensorField::kName, in.take_word());
        }
        matches('=');
        return tensor_data(read, tensor);
    }

    // --- Tensors ---------------------------------------------------------------------------------

    bool tensor_data(const Message& type, Message& target) {
        const Item* tensor = type.item(TypeField::kTensor);
        const Item* shape =
            tensor == nullptr ? nullptr : tensor->message->item(TensorTypeField::kShape);
        if (shape == nullptr) {
            return in.fail("a tensor needs a type with all its sizes");
        }
        int64_t element = tensor->message->integer(TensorTypeField::kElementType);
        set_integer(target, TensorField::kDataType, element);
        for (const Item& dim : shape->message->items(ShapeField::kDim)) {
            const Item* size = dim.message->item(DimField::kValue);
            if (size == nullptr) {
                return in.fail("the sizes of a tensor are numbers");
            }
            set_integer(target, TensorField::kDims, size->integer());
        }
        if (next() == '[') {
            set_integer(target, TensorField::kDataLocation, 1);
            return entries(target, TensorField::kExternalData);
        }
        ElementType of = element_type_from_number(element);
        if (!expect('{') ||
            (!matches('}') &&
             !(commas([&] { return tensor_element(of, target); }) && expect('}')))) {
            return false;
        }
        return true;
    }

    bool tensor_element(ElementType type, Message& target) {
        uint32_t number = data_field(type);
        if (type == ElementType::kString) {
            std::string_view text;
            if (!string(&text)) {
                return false;
            }
            set_bytes(target, number, text);
            return true;
        }
        if (next() == '.') {
            return in.fail("elements are left out here: this text is for display only");
        }
        Number read;
        Item item;
        FieldKind kind = target.info->find(number)->kind;
        bool is_real = kind == FieldKind::kFloat || kind == FieldKind::kDouble;
        if (!this->number(&read) ||
            !(is_real ? real_item(read, kind, &item) : integer_of(read, kind, &item))) {
            return false;
        }
        set(target, number) = item;
        return true;
    }
};

}  // namespace

Result<void> read_onnx_text(std::string_view text, Document& document) {
    OnnxTextReader reader(text, document);
    return reader.model(document.root()) ? Result<void>() : Result<void>(Error{reader.error()});
}

}  // namespace sardonyx::proto
