// The layout: one node on a line, three columns for each graph around it.
#include "proto/onnx_text_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/quote.h"
#include "base/stop.h"
#include "ir/ir.h"
#include "proto/onnx_text_phrases.h"
#include "proto/onnx_text_words.h"

namespace sardonyx::proto {
namespace {

constexpr size_t kStep = 3;
constexpr size_t kShownElements = 8;  // of a tensor that is cut short

class OnnxTextWriter : private OnnxTextPhrases {
  public:
    using OnnxTextPhrases::left_out;
    using OnnxTextPhrases::problems;

    // `most_elements`: of a tensor that is written whole; -1: any.
    explicit OnnxTextWriter(int64_t most_elements)
        : OnnxTextPhrases(most_elements >= 0), most_elements_(most_elements) {}

    const std::string& text() const { return out_; }

    void model(const Message& model) {
        model_header(model);
        const Item* main = model.item(ModelField::kGraph);
        if (main == nullptr) {
            refuse("a model without a graph");
        } else {
            const Message& graph = *main->message;
            out_ += name_text(graph.text(GraphField::kName));
            graph_from_inputs(graph, 0);
            out_ += '\n';
        }
        for (const Item& item : model.items(ModelField::kFunctions)) {
            out_ += '\n';
            function(*item.message);
        }
        leave_out(model, ModelField::kTrainingInfo, "information on training");
        leave_out(model, ModelField::kConfiguration, "configurations of devices");
    }

  private:
    template <typename Items, typename Text>
    static std::string joined(const Items& items, Text text) {
        std::string result;
        for (const Item& item : items) {
            result += result.empty() ? "" : ", ";
            result += text(item);
        }
        return result;
    }

    std::string names(std::span<const Item> items) {
        return joined(items, [&](const Item& item) { return name_text(item.bytes); });
    }

    void line(size_t indent) {
        out_ += '\n';
        out_.append(indent, ' ');
    }

    // --- Headers ---------------------------------------------------------------------------------

    void model_header(const Message& model) {
        out_ += "<\n";
        bool is_first = true;
        auto key = [&](std::string_view name) {
            out_ += is_first ? "" : ",\n";
            out_ += fmt::format("   {}: ", name);
            is_first = false;
        };
        auto text_key = [&](std::string_view name, uint32_t number) {
            if (const Item* item = model.item(number)) {
                key(name);
                out_ += literal(item->bytes);
            }
        };
        if (const Item* version = model.item(ModelField::kIrVersion)) {
            key("ir_version");
            out_ += fmt::format("{}", version->integer());
        }
        key("opset_import");
        opset_imports(model.items(ModelField::kOpsetImport));
        text_key("producer_name", ModelField::kProducerName);
        text_key("producer_version", ModelField::kProducerVersion);
        text_key("domain", ModelField::kDomain);
        if (const Item* version = model.item(ModelField::kModelVersion)) {
            key("model_version");
            out_ += fmt::format("{}", version->integer());
        }
        text_key("doc_string", ModelField::kDoc);
        if (std::span<const Item> metadata = model.items(ModelField::kMetadata);
            !metadata.empty()) {
            key("metadata_props");
            entries(metadata);
        }
        out_ += "\n>\n";
    }

    void opset_imports(std::span<const Item> imports) {
        out_ += '[' +
                joined(imports,
                       [&](const Item& item) {
                           return fmt::format(
                               "{} : {}", literal(item.message->text(OpsetImportField::kDomain)),
                               item.message->integer(OpsetImportField::kVersion));
                       }) +
                ']';
    }

    void entries(std::span<const Item> items) {
        out_ +=
            '[' +
            joined(items,
                   [&](const Item& item) {
                       return fmt::format("{}: {}", literal(item.message->text(EntryField::kKey)),
                                          literal(item.message->text(EntryField::kValue)));
                   }) +
            ']';
    }

    void function(const Message& function) {
        out_ += fmt::format("<\n   domain: {}", literal(function.text(FunctionField::kDomain)));
        if (!function.text(FunctionField::kOverload).empty()) {
            out_ += ",\n   overload: " + literal(function.text(FunctionField::kOverload));
        }
        out_ += ",\n   opset_import: ";
        opset_imports(function.items(FunctionField::kOpsetImport));
        if (!function.text(FunctionField::kDoc).empty()) {
            out_ += ",\n   doc_string: " + literal(function.text(FunctionField::kDoc));
        }
        out_ += "\n>\n" + name_text(function.text(FunctionField::kName));
        std::span<const Item> parameters = function.items(FunctionField::kAttribute);
        std::span<const Item> defaults = function.items(FunctionField::kAttributeProto);
        if (!parameters.empty() || !defaults.empty()) {
            out_ += " <" + names(parameters);
            out_ += parameters.empty() || defaults.empty() ? "" : ", ";
            attribute_list(defaults, 0);
            out_ += '>';
        }
        out_ += fmt::format(" ({}) => ({})", names(function.items(FunctionField::kInput)),
                            names(function.items(FunctionField::kOutput)));
        stated({}, function.items(FunctionField::kValueInfo), 0);
        nodes(function.items(FunctionField::kNode), 0);
        out_ += '\n';
        leave_out(function, FunctionField::kMetadata, "metadata of functions");
    }

    // --- Graphs ----------------------------------------------------------------------------------

    void graph_from_inputs(const Message& graph, size_t indent) {
        auto value_list = [&](uint32_t number) {
            return joined(graph.items(number),
                          [&](const Item& item) { return value_info(*item.message); });
        };
        out_ += fmt::format(" ({})", value_list(GraphField::kInput));
        out_ += fmt::format(" => ({})", value_list(GraphField::kOutput));
        stated(graph.items(GraphField::kInitializer), graph.items(GraphField::kValueInfo), indent);
        nodes(graph.items(GraphField::kNode), indent);
        if (!graph.items(GraphField::kSparseInitializer).empty()) {
            refuse("sparse initializers");
        }
        leave_out(graph, GraphField::kDoc, "documentation of graphs");
        leave_out(graph, GraphField::kMetadata, "metadata of graphs");
        leave_out(graph, GraphField::kQuantizationAnnotation, "annotations of quantization");
    }

    // Initializers, and types of inner values.
    void stated(std::span<const Item> initializers, std::span<const Item> types, size_t indent) {
        if (initializers.empty() && types.empty()) {
            return;
        }
        line(indent);
        out_ += '<';
        bool is_first = true;
        auto begin = [&] {
            out_ += is_first ? "" : ",";
            is_first = false;
            line(indent + kStep);
        };
        for (const Item& item : initializers) {
            stop_point();
            begin();
            const Message& tensor = *item.message;
            out_ += tensor_type(tensor) + ' ' + name_text(tensor.text(TensorField::kName)) + " = ";
            tensor_data(tensor);
            leave_out(tensor, TensorField::kDoc, "documentation of values");
            leave_out(tensor, TensorField::kMetadata, "metadata of values");
        }
        for (const Item& item : types) {
            begin();
            out_ += value_info(*item.message);
        }
        line(indent);
        out_ += '>';
    }

    std::string value_info(const Message& value) {
        stop_point();
        std::string type;
        if (const Item* item = value.item(ValueInfoField::kType)) {
            bool is_said = type_text(*item->message, type);
            type += is_said ? " " : "";
            if (!is_said) {
                type.clear();
                leave_out("types of values that are only partly known");
            }
        }
        leave_out(value, ValueInfoField::kDoc, "documentation of values");
        leave_out(value, ValueInfoField::kMetadata, "metadata of values");
        return type + name_text(value.text(ValueInfoField::kName));
    }

    void nodes(std::span<const Item> items, size_t indent) {
        line(indent);
        out_ += '{';
        for (const Item& item : items) {
            line(indent + kStep);
            node(*item.message, indent + kStep);
        }
        line(indent);
        out_ += '}';
    }

    void node(const Message& node, size_t indent) {
        stop_point();
        if (std::string_view name = node.text(NodeField::kName); !name.empty()) {
            out_ += '[' + name_text(name) + "] ";
        }
        out_ += names(node.items(NodeField::kOutput)) + " = ";
        if (std::string_view domain = node.text(NodeField::kDomain); !domain.empty()) {
            out_ += dotted(domain, "the domain") + '.';
        }
        out_ += word(node.text(NodeField::kOpType), "the operator");
        if (std::string_view overload = node.text(NodeField::kOverload); !overload.empty()) {
            out_ += ':' + word(overload, "the overload");
        }
        std::span<const Item> attributes = node.items(NodeField::kAttribute);
        bool has_graph = std::any_of(attributes.begin(), attributes.end(), [](const Item& item) {
            return item.message->find(AttributeField::kGraph) != nullptr;
        });
        std::string inputs = " (" + names(node.items(NodeField::kInput)) + ')';
        out_ += has_graph ? inputs : "";  // a short line before long ones
        if (!attributes.empty()) {
            out_ += " <";
            attribute_list(attributes, indent);
            out_ += '>';
        }
        out_ += has_graph ? "" : inputs;
        leave_out(node, NodeField::kDoc, "documentation of nodes");
        leave_out(node, NodeField::kMetadata, "metadata of nodes");
        leave_out(node, NodeField::kDeviceConfigurations, "configurations of devices");
    }

    // --- Attributes ------------------------------------------------------------------------------

    void attribute_list(std::span<const Item> items, size_t indent) {
        bool is_first = true;
        for (const Item& item : items) {
            out_ += is_first ? "" : ", ";
            is_first = false;
            attribute(*item.message, indent);
        }
    }

    void attribute(const Message& attribute, size_t indent) {
        int64_t type = attribute.integer(AttributeField::kType);
        bool is_known = type > 0 && type <= static_cast<int64_t>(std::size(kAttributeWords));
        std::string name = word(attribute.text(AttributeField::kName), "the attribute");
        if (!is_known) {
            refuse(fmt::format("the attribute {}, whose type is not said", quoted(name)));
            out_ += name;
            return;
        }
        out_ += fmt::format("{}: {} = ", name, kAttributeWords[type - 1]);
        leave_out(attribute, AttributeField::kDoc, "documentation of attributes");
        if (const Item* reference = attribute.item(AttributeField::kReference);
            reference != nullptr && !reference->bytes.empty()) {
            out_ += '@' + name_text(reference->bytes);
            return;
        }
        attribute_value(attribute, static_cast<ir::AttributeType>(type), indent);
    }

    void attribute_value(const Message& attribute, ir::AttributeType type, size_t indent) {
        auto list = [&](uint32_t number, auto text) {
            out_ += '[' + joined(attribute.items(number), text) + ']';
        };
        auto integer = [](const Item& item) { return fmt::format("{}", item.integer()); };
        auto real = [&](const Item& item) { return real_text(FieldKind::kFloat, item); };
        auto string = [&](const Item& item) { return literal(item.bytes); };
        switch (type) {
            case ir::AttributeType::kFloat:
                out_ += one(attribute, AttributeField::kFloat, real);
                break;
            case ir::AttributeType::kInt:
                out_ += one(attribute, AttributeField::kInt, integer);
                break;
            case ir::AttributeType::kString:
                out_ += one(attribute, AttributeField::kString, string);
                break;
            case ir::AttributeType::kFloats:
                list(AttributeField::kFloats, real);
                break;
            case ir::AttributeType::kInts:
                list(AttributeField::kInts, integer);
                break;
            case ir::AttributeType::kStrings:
                list(AttributeField::kStrings, string);
                break;
            case ir::AttributeType::kTensor:
                tensor_attribute(attribute);
                break;
            case ir::AttributeType::kGraph:
                graph_attribute(attribute, indent);
                break;
            case ir::AttributeType::kTypeProto:
                type_attribute(attribute);
                break;
            default:
                out_ += "[]";
                if (attribute.fields.size() > 2) {  // beside the name and the type
                    refuse(fmt::format("attributes of the type `{}`",
                                       kAttributeWords[static_cast<size_t>(type) - 1]));
                }
        }
    }

    template <typename Text>
    static std::string one(const Message& attribute, uint32_t number, Text text) {
        const Item* item = attribute.item(number);
        return text(item != nullptr ? *item : Item());
    }

    void tensor_attribute(const Message& attribute) {
        const Item* item = attribute.item(AttributeField::kTensor);
        if (item == nullptr) {
            refuse("a tensor attribute without a tensor");
            return;
        }
        const Message& tensor = *item->message;
        std::string_view name = tensor.text(TensorField::kName);
        out_ += tensor_type(tensor) + ' ';
        if (is_identifier(name)) {
            out_ += fmt::format("{} ", name);
        } else if (!name.empty()) {
            leave_out("names of tensors");
        }
        tensor_data(tensor);
        leave_out(tensor, TensorField::kDoc, "documentation of tensors");
        leave_out(tensor, TensorField::kMetadata, "metadata of tensors");
    }

    void graph_attribute(const Message& attribute, size_t indent) {
        const Item* item = attribute.item(AttributeField::kGraph);
        if (item == nullptr) {
            refuse("a graph attribute without a graph");
            return;
        }
        // It cannot be quoted here, and must not look like anything else.
        std::string_view name = item->message->text(GraphField::kName);
        bool is_said = is_identifier(name) && !is_type_word(name) && !is_number_word(name);
        if (!is_said) {
            leave_out("names of subgraphs");
        }
        out_ += is_said ? name : "body";
        graph_from_inputs(*item->message, indent);
    }

    void type_attribute(const Message& attribute) {
        const Item* item = attribute.item(AttributeField::kTypeProto);
        std::string text;
        if (item == nullptr || !type_text(*item->message, text)) {
            refuse("an attribute with a type that is only partly known");
        }
        out_ += text;
    }

    // --- Tensors ---------------------------------------------------------------------------------

    std::string tensor_type(const Message& tensor) {
        ElementType type = element_type_from_number(tensor.integer(TensorField::kDataType));
        if (type == ElementType::kUndefined) {
            refuse("a tensor whose element type is not said");
        }
        std::string dims;
        for (const Item& dim : tensor.items(TensorField::kDims)) {
            dims += fmt::format("{}{}", dims.empty() ? "" : ",", dim.integer());
        }
        return dims.empty() ? std::string(info(type).schema_name)
                            : fmt::format("{}[{}]", info(type).schema_name, dims);
    }

    void tensor_data(const Message& tensor) {
        bool is_external = tensor.integer(TensorField::kDataLocation) != 0;
        if (is_external && most_elements_ >= 0) {
            refuse("elements of large tensors, which are not shown");
            out_ += "{...}";
            return;
        }
        if (is_external) {
            entries(tensor.items(TensorField::kExternalData));
            return;
        }
        if (tensor.find(TensorField::kSegment) != nullptr) {
            refuse("a tensor that is a segment of another one");
        }
        ElementType type = element_type_from_number(tensor.integer(TensorField::kDataType));
        out_ += '{';
        if (const Item* raw = tensor.item(TensorField::kRawData); raw != nullptr) {
            raw_elements(tensor, type, raw->bytes);
        } else {
            std::span<const Item> items = tensor.items(data_field(type));
            elements(items.size(), [&](size_t i) { return element_text(type, items[i]); });
        }
        out_ += '}';
    }

    template <typename Text>
    void elements(size_t count, Text text) {
        size_t shown = count;
        if (most_elements_ >= 0 && count > static_cast<size_t>(most_elements_)) {
            shown = std::min(count, kShownElements);
            refuse("elements of large tensors, which are not shown");
        }
        for (size_t i = 0; i < shown; ++i) {
            out_ += i == 0 ? "" : ", ";
            out_ += text(i);
        }
        out_ += shown < count ? ", ..." : "";
    }

    std::string element_text(ElementType type, const Item& item) {
        switch (data_field(type)) {
            case TensorField::kFloatData:
                return real_text(FieldKind::kFloat, item);
            case TensorField::kDoubleData:
                return real_text(FieldKind::kDouble, item);
            case TensorField::kUint64Data:
                return fmt::format("{}", item.bits);
            case TensorField::kStringData:
                return literal(item.bytes);
            default:
                return fmt::format("{}", item.integer());
        }
    }

    // Of 2 and 4 bits: the bytes in which they lie together, as int32_data has them.
    void raw_elements(const Message& tensor, ElementType type, std::string_view raw) {
        size_t bits = info(type).bits;
        if (bits == 6) {
            six_bit_elements(tensor, raw);
            return;
        }
        bool is_complex = element_class(type) == ElementClass::kComplex;
        size_t width = std::max<size_t>(bits / (is_complex ? 16 : 8), 1);
        if (raw.size() % width != 0) {
            refuse("a tensor that ends within an element");
        }
        bool is_signed = element_class(type) == ElementClass::kSigned && bits >= 8;
        elements(raw.size() / width, [&](size_t i) {
            Item item;
            std::memcpy(&item.bits, raw.data() + i * width, width);
            auto shift = static_cast<unsigned>(64 - 8 * width);
            if (is_signed) {
                item.bits =
                    static_cast<uint64_t>(static_cast<int64_t>(item.bits << shift) >> shift);
            }
            return element_text(type, item);
        });
    }

    // One by one: three bytes hold four.
    void six_bit_elements(const Message& tensor, std::string_view raw) {
        uint64_t count = 1;
        for (const Item& dim : tensor.items(TensorField::kDims)) {
            count *= dim.bits;
        }
        if (count > raw.size() * 2 || (count * 6 + 7) / 8 != raw.size()) {
            refuse("a tensor whose bytes do not fit its shape");
            return;
        }
        elements(count, [&](size_t i) {
            size_t at = i * 6 / 8;
            unsigned pair = static_cast<uint8_t>(raw[at]);
            pair |= at + 1 < raw.size() ? static_cast<uint8_t>(raw[at + 1]) * 256U : 0U;
            return fmt::format("{}", pair >> (i * 6 % 8) & 63U);
        });
    }

    int64_t most_elements_;
    std::string out_;
};

}  // namespace

Result<std::string> write_onnx_text(const Message& model) {
    OnnxTextWriter writer(-1);
    writer.model(model);
    if (!writer.problems().empty()) {
        return Error{fmt::format("the text form of onnx cannot express {}; JSON can",
                                 writer.problems().front())};
    }
    return writer.left_out() + writer.text();
}

std::string show_onnx_text(const Message& model, int64_t most_elements) {
    OnnxTextWriter writer(most_elements);
    writer.model(model);
    std::string first_line;
    if (!writer.problems().empty()) {
        first_line = fmt::format("# cannot be read back: {}\n", writer.problems().front());
    }
    return first_line + writer.left_out() + writer.text();
}

}  // namespace sardonyx::proto
