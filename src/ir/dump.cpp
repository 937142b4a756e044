// dump: a model as text for people and tests. Values are `%name`, an input that is left out or an
// output that nobody wants is `_`, a parameter of the function is `@name`.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "base/quote.h"
#include "base/stop.h"
#include "ir/attribute_text.h"
#include "ir/ir.h"
#include "types/domain.h"

namespace sardonyx::ir {
namespace {

constexpr int kIndent = 4;
constexpr int64_t kMaxTensorElements = 8;
constexpr size_t kMaxListItems = 32;

bool is_plain(std::string_view name) {
    for (char c : name) {
        bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!is_word && std::string_view("_./-").find(c) == std::string_view::npos) {
            return false;
        }
    }
    return !name.empty();
}

std::string name_text(std::string_view name) {
    return is_plain(name) ? std::string(name) : quoted(name);
}

std::string qualified_name(std::string_view domain, std::string_view name,
                           std::string_view overload) {
    std::string text = domain.empty() ? "" : name_text(domain) + "::";
    text += name_text(name);
    return overload.empty() ? text : text + "#" + name_text(overload);
}

class Dumper {
  public:
    std::string take() { return std::move(text_); }

    void model(const Model& model) {
        begin_line(0);
        text_ += fmt::format("model ir_version={}", model.ir_version);
        header_field("producer", model.producer_name);
        header_field("producer_version", model.producer_version);
        header_field("domain", model.domain);
        if (model.model_version != 0) {
            text_ += fmt::format(" model_version={}", model.model_version);
        }
        text_ += '\n';
        for (const OpsetImport& import : model.opset_imports) {
            line(0, "import " + import_text(import));
        }
        doc_and_metadata(model.doc, model.metadata, 0);
        if (model.graph != nullptr) {
            text_ += '\n';
            graph(*model.graph, 0);
        }
        for (const Function* function : model.functions) {
            text_ += '\n';
            this->function(*function);
        }
    }

    void graph(const Graph& graph, int indent) {
        begin_line(indent);
        graph_from_keyword(graph, indent);
        text_ += '\n';
    }

    void value(const Attribute& attribute) {
        if (attribute.is_reference()) {
            text_ += "@" + name_text(attribute.reference);
        } else {
            std::visit([&](const auto& held) { item(held, 0); }, attribute.value);
        }
    }

  private:
    void begin_line(int indent) { text_.append(static_cast<size_t>(indent), ' '); }

    void line(int indent, std::string_view words) {
        begin_line(indent);
        text_ += words;
        text_ += '\n';
    }

    void header_field(std::string_view key, std::string_view value) {
        if (!value.empty()) {
            text_ += fmt::format(" {}={}", key, quoted(value));
        }
    }

    static std::string import_text(const OpsetImport& import) {
        return fmt::format("{} {}", name_text(shown_domain(import.domain)), import.version);
    }

    void doc_and_metadata(std::string_view doc, const Metadata& metadata, int indent) {
        if (!doc.empty()) {
            line(indent, "doc " + quoted(doc));
        }
        for (const auto& [key, value] : metadata) {
            line(indent, fmt::format("metadata {} = {}", quoted(key), quoted(value)));
        }
    }

    // Prints the items of a list with `print(item)` and commas between them.
    template <typename List, typename Print>
    void commas(const List& list, Print print) {
        bool is_first = true;
        for (const auto& item : list) {
            text_ += is_first ? "" : ", ";
            is_first = false;
            print(item);
        }
    }

    void value_name(const Value* value) {
        text_ += value == nullptr || value->name.empty() ? "_" : "%" + name_text(value->name);
    }

    void typed_value(const Value* value) {
        value_name(value);
        if (value->type.is_known()) {
            text_ += ": " + value->type.to_string();
        }
    }

    void signature(const Graph& graph) {
        text_ += '(';
        commas(graph.inputs, [&](const Value* input) { typed_value(input); });
        text_ += ") -> (";
        commas(graph.outputs, [&](const Value* output) { typed_value(output); });
        text_ += ')';
    }

    // Everything but the indent of the first line and the last line break.
    void graph_from_keyword(const Graph& graph, int indent) {
        text_ += graph.name.empty() ? "graph " : "graph " + name_text(graph.name) + " ";
        signature(graph);
        text_ += " {\n";
        body(graph, indent);
    }

    void body(const Graph& graph, int indent) {
        int inner = indent + kIndent;
        doc_and_metadata(graph.doc, graph.metadata, inner);
        for (const Value* value : graph.initializers) {
            begin_line(inner);
            text_ += value->is_graph_input() ? "default " : "initializer ";
            value_name(value);
            if (value->constant.has_value()) {
                text_ += ": " + to_string(*value->constant, kMaxTensorElements);
            } else if (value->sparse != nullptr) {
                text_ += ": ";
                item(*value->sparse, inner);
            }
            text_ += '\n';
        }
        for (const Node& node : graph) {
            stop_point();
            this->node(node, inner);
        }
        begin_line(indent);
        text_ += '}';
    }

    void node(const Node& node, int indent) {
        begin_line(indent);
        commas(node.outputs(), [&](const Value* output) { typed_value(output); });
        text_ += node.output_count() > 0 ? " = " : "";
        text_ += qualified_name(node.domain, node.op_type, node.overload) + "(";
        commas(node.inputs(), [&](const Use& use) { value_name(use.value); });
        text_ += ')';
        if (!node.attributes.empty()) {
            text_ += " {";
            commas(node.attributes,
                   [&](const Attribute& attribute) { this->attribute(attribute, indent); });
            text_ += '}';
        }
        if (!node.name.empty()) {
            text_ += "  # " + name_text(node.name);
        }
        text_ += '\n';
        doc_and_metadata(node.doc, node.metadata, indent + kIndent);
    }

    void attribute(const Attribute& attribute, int indent) {
        text_ += name_text(attribute.name);
        if (attribute.is_reference()) {
            text_ += fmt::format(": {}=@{}", name(attribute.type), name_text(attribute.reference));
            return;
        }
        text_ += '=';
        std::visit([&](const auto& held) { item(held, indent); }, attribute.value);
    }

    template <typename T>
    void item(const T& held, int indent) {
        if constexpr (std::is_same_v<T, std::monostate>) {
            text_ += '?';
        } else if constexpr (std::is_same_v<T, float>) {
            text_ += fmt::format("{}", held);
            if (std::isfinite(held) && held == std::trunc(held) && std::abs(held) < 1e16f) {
                text_ += ".0";
            }
        } else if constexpr (std::is_same_v<T, int64_t>) {
            text_ += fmt::format("{}", held);
        } else if constexpr (std::is_same_v<T, std::string>) {
            text_ += quoted(held);
        } else if constexpr (std::is_same_v<T, Tensor>) {
            text_ += to_string(held, kMaxTensorElements);
        } else if constexpr (std::is_same_v<T, Type>) {
            text_ += held.to_string();
        } else if constexpr (std::is_same_v<T, SparseTensor>) {
            text_ += fmt::format("sparse[{}] {} at {}", fmt::join(held.dims, ","),
                                 to_string(held.values, kMaxTensorElements),
                                 to_string(held.indices, kMaxTensorElements));
        } else if constexpr (std::is_same_v<T, Graph*>) {
            if (held == nullptr) {
                text_ += '?';
            } else {
                graph_from_keyword(*held, indent);
            }
        } else {
            list(held, indent);
        }
    }

    template <typename T>
    void list(const std::vector<T>& items, int indent) {
        text_ += '[';
        std::span<const T> shown(items.data(), std::min(items.size(), kMaxListItems));
        commas(shown, [&](const T& held) { item(held, indent); });
        text_ += shown.size() < items.size() ? ", ...]" : "]";
    }

    void function(const Function& function) {
        text_ += "function " + qualified_name(function.domain, function.name, function.overload);
        if (!function.attributes.empty() || !function.attribute_defaults.empty()) {
            text_ += " <";
            commas(function.attributes, [&](std::string_view name) { text_ += name_text(name); });
            text_ += function.attributes.empty() || function.attribute_defaults.empty() ? "" : ", ";
            commas(function.attribute_defaults,
                   [&](const Attribute& attribute) { this->attribute(attribute, 0); });
            text_ += '>';
        }
        if (function.body == nullptr) {
            text_ += '\n';
            return;
        }
        text_ += ' ';
        signature(*function.body);
        text_ += " {\n";
        for (const OpsetImport& import : function.opset_imports) {
            line(kIndent, "import " + import_text(import));
        }
        doc_and_metadata(function.doc, function.metadata, kIndent);
        body(*function.body, 0);
        text_ += '\n';
    }

    std::string text_;
};

}  // namespace

std::string dump(const Model& model) {
    Dumper dumper;
    dumper.model(model);
    return dumper.take();
}

std::string text_of(const Attribute& attribute) {
    Dumper dumper;
    dumper.value(attribute);
    return dumper.take();
}

std::string dump(const Graph& graph, int indent) {
    Dumper dumper;
    dumper.graph(graph, indent);
    return dumper.take();
}

}  // namespace sardonyx::ir
