#include "ir/copy.h"

#include <unordered_map>

namespace sardonyx::ir {
namespace {

class Copier {
  public:
    Copier(const Model& from, Model& to) : from_(from), to_(to) {}

    void copy() {
        to_.ir_version = from_.ir_version;
        to_.producer_name = text(from_.producer_name);
        to_.producer_version = text(from_.producer_version);
        to_.domain = text(from_.domain);
        to_.model_version = from_.model_version;
        to_.doc = text(from_.doc);
        to_.opset_imports = imports(from_.opset_imports);
        to_.metadata = metadata(from_.metadata);
        to_.preserved = text(from_.preserved);
        for (const Function* function : from_.functions) {
            copy(*function);
        }
        if (from_.graph != nullptr) {
            to_.graph = graph(*from_.graph, nullptr);
        }
    }

  private:
    std::string_view text(std::string_view words) { return to_.intern(words); }

    Metadata metadata(const Metadata& entries) {
        Metadata copied;
        for (const auto& [key, value] : entries) {
            copied.emplace_back(text(key), text(value));
        }
        return copied;
    }

    std::vector<OpsetImport> imports(const std::vector<OpsetImport>& given) {
        std::vector<OpsetImport> copied;
        for (const OpsetImport& import : given) {
            copied.push_back({text(import.domain), import.version});
        }
        return copied;
    }

    void copy(const Function& function) {
        Function& copied = *to_.add_function(function.domain, function.name, function.overload);
        copied.doc = text(function.doc);
        for (std::string_view name : function.attributes) {
            copied.attributes.push_back(text(name));
        }
        for (const Attribute& attribute : function.attribute_defaults) {
            copied.attribute_defaults.push_back(this->attribute(attribute, nullptr));
        }
        copied.opset_imports = imports(function.opset_imports);
        copied.metadata = metadata(function.metadata);
        fill(*function.body, *copied.body);
    }

    Graph* graph(const Graph& given, Graph* parent) {
        Graph* copied = to_.make_graph(parent);
        fill(given, *copied);
        return copied;
    }

    void fill(const Graph& given, Graph& copied) {
        copied.name = text(given.name);
        copied.doc = text(given.doc);
        copied.metadata = metadata(given.metadata);
        copied.preserved = text(given.preserved);
        for (const Value* input : given.inputs) {
            Value* value = to_.add_input(&copied, input->name);
            say(*input, *value);
        }
        for (const Value* initializer : given.initializers) {
            add_initializer(*initializer, copied);
        }
        for (const Node& node : given) {
            add_node(node, copied);
        }
        for (const Value* output : given.outputs) {
            copied.outputs.push_back(values_.at(output));
        }
    }

    void add_initializer(const Value& given, Graph& graph) {
        if (given.is_graph_input()) {
            Value* value = values_.at(&given);
            value->constant.reset();
            to_.add_default(value, *given.constant);
            return;
        }
        Value* value = given.sparse != nullptr
                           ? to_.add_sparse_initializer(&graph, given.name, *given.sparse)
                           : to_.add_initializer(&graph, given.name, *given.constant);
        say(given, *value);
    }

    void add_node(const Node& given, Graph& graph) {
        std::vector<Value*> inputs;
        for (const Use& use : given.inputs()) {
            inputs.push_back(use.value != nullptr ? values_.at(use.value) : nullptr);
        }
        Node& node = *to_.make_node(given.domain, given.op_type, inputs, given.output_count());
        node.overload = text(given.overload);
        node.name = text(given.name);
        node.doc = text(given.doc);
        node.metadata = metadata(given.metadata);
        node.preserved = text(given.preserved);
        node.span = given.span;
        for (const Attribute& attribute : given.attributes) {
            node.attributes.push_back(this->attribute(attribute, &graph));
        }
        graph.insert(&node);
        for (size_t i = 0; i < given.output_count(); ++i) {
            node.output(i)->name = text(given.output(i)->name);
            say(*given.output(i), *node.output(i));
        }
    }

    Attribute attribute(const Attribute& given, Graph* around) {
        Attribute copied = given;
        copied.name = text(given.name);
        copied.reference = text(given.reference);
        copied.doc = text(given.doc);
        if (Graph** subgraph = std::get_if<Graph*>(&copied.value)) {
            *subgraph = graph(**subgraph, around);
        } else if (auto* subgraphs = std::get_if<std::vector<Graph*>>(&copied.value)) {
            for (Graph*& each : *subgraphs) {
                each = graph(*each, around);
            }
        }
        return copied;
    }

    // What a value says beside its name and its place.
    void say(const Value& given, Value& value) {
        value.type = given.type;
        value.doc = text(given.doc);
        value.metadata = metadata(given.metadata);
        value.span = given.span;
        value.constant = given.constant;
        if (given.content != nullptr) {
            value.content = std::make_unique<SymbolicContent>(*given.content);
        }
        value.preserved = text(given.preserved);
        values_.emplace(&given, &value);
    }

    const Model& from_;
    Model& to_;
    std::unordered_map<const Value*, Value*> values_;
};

}  // namespace

std::unique_ptr<Model> copy(const Model& model) {
    auto copied = std::make_unique<Model>();
    Copier(model, *copied).copy();
    return copied;
}

}  // namespace sardonyx::ir
