#include "ir/copy.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

#include "base/stop.h"
#include "ir/equal.h"
#include "ir/sparse.h"
#include "ir/walk.h"

namespace sardonyx::ir {
namespace {

bool same_graphs(const Graph& a, const Graph& b);

// Of two values of attributes. Lists of graphs differ: nobody has taken the trouble to compare.
bool same_values(const AttributeValue& a, const AttributeValue& b) {
    Graph* const* one = std::get_if<Graph*>(&a);
    Graph* const* other = std::get_if<Graph*>(&b);
    return one != nullptr && other != nullptr ? same_graphs(**one, **other) : same_value(a, b);
}

bool same_attributes(const std::vector<Attribute>& a, const std::vector<Attribute>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Attribute& one, const Attribute& other) {
                          return one.name == other.name && one.reference == other.reference &&
                                 one.type == other.type && same_values(one.value, other.value);
                      });
}

bool same_names(const std::vector<Value*>& a, const std::vector<Value*>& b) {
    return std::equal(
        a.begin(), a.end(), b.begin(), b.end(),
        [](const Value* one, const Value* other) { return one->name == other->name; });
}

bool same_nodes(const Node& a, const Node& b) {
    auto same_input = [](const Use& one, const Use& other) {
        return (one.value == nullptr) == (other.value == nullptr) &&
               (one.value == nullptr || one.value->name == other.value->name);
    };
    auto same_output = [](const Value* one, const Value* other) {
        return one->name == other->name;
    };
    return a.domain == b.domain && a.op_type == b.op_type && a.overload == b.overload &&
           std::equal(a.inputs().begin(), a.inputs().end(), b.inputs().begin(), b.inputs().end(),
                      same_input) &&
           std::equal(a.outputs().begin(), a.outputs().end(), b.outputs().begin(),
                      b.outputs().end(), same_output) &&
           same_attributes(a.attributes, b.attributes);
}

// Whether they say the same, names included.
bool same_graphs(const Graph& a, const Graph& b) {
    const Node* one = a.first_node();
    const Node* other = b.first_node();
    while (one != nullptr && other != nullptr && same_nodes(*one, *other)) {
        one = one->next();
        other = other->next();
    }
    return one == nullptr && other == nullptr && a.initializers.empty() && b.initializers.empty() &&
           same_names(a.inputs, b.inputs) && same_names(a.outputs, b.outputs);
}

bool same_functions(const Function& a, const Function& b) {
    auto same_import = [](const OpsetImport& one, const OpsetImport& other) {
        return one.domain == other.domain && one.version == other.version;
    };
    return a.attributes == b.attributes &&
           same_attributes(a.attribute_defaults, b.attribute_defaults) &&
           std::equal(a.opset_imports.begin(), a.opset_imports.end(), b.opset_imports.begin(),
                      b.opset_imports.end(), same_import) &&
           same_graphs(*a.body, *b.body);
}

class Copier {
  public:
    Copier(const Model& from, Model& to) : from_(from), to_(to) {}

    Spliced splice(Graph& graph, std::span<Value* const> inputs,
                   const std::function<std::string(std::string_view)>& name_of) {
        Spliced made;
        choose_overloads();
        for (const Function* function : from_.functions) {
            if (!is_there(*function)) {
                made.functions.push_back(&copy(*function));
            }
        }
        name_of_ = &name_of;  // bodies of functions keep their names
        for (size_t i = 0; i < inputs.size(); ++i) {
            values_.emplace(from_.graph->inputs[i], inputs[i]);
        }
        Graph* outermost = &graph;
        while (outermost->parent() != nullptr) {
            outermost = outermost->parent();
        }
        for (const Value* initializer : from_.graph->initializers) {
            if (!initializer->is_graph_input()) {
                add_initializer(*initializer, *outermost);
                made.initializers.push_back(values_.at(initializer));
            }
        }
        add_nodes(*from_.graph, graph, made);
        return made;
    }

    Spliced expand(Node& call, const Function& function,
                   const std::function<std::string(std::string_view)>& name_of) {
        Spliced made;
        name_of_ = &name_of;
        call_ = &call;
        function_ = &function;
        position_ = &call;
        for (size_t i = 0; i < function.body->inputs.size(); ++i) {
            values_.emplace(function.body->inputs[i], call.input(i));
        }
        add_nodes(*function.body, *call.graph(), made);
        return made;
    }

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
    void add_nodes(const Graph& given, Graph& graph, Spliced& made) {
        for (const Node& node : given) {
            stop_point();
            made.nodes.push_back(&add_node(node, graph, position_));
        }
        for (const Value* output : given.outputs) {
            made.outputs.push_back(values_.at(output));
        }
    }

    using Key = std::array<std::string_view, 3>;

    // Whether the model has the function already, under the name that calls of it will have.
    bool is_there(const Function& function) const {
        const Function* found =
            to_.find_function(function.domain, function.name, overload_of(function));
        return found != nullptr;
    }

    // The overload that a function, or a call of it, has in the copy.
    template <typename T>
    std::string_view overload_of(const T& of, std::string_view name) const {
        auto found = overloads_.find({of.domain, name, of.overload});
        return found != overloads_.end() ? found->second : of.overload;
    }
    std::string_view overload_of(const Function& function) const {
        return overload_of(function, function.name);
    }

    void choose_overloads() {
        // A function that calls one with a new overload is no longer what it was: until nothing
        // changes any more, which each round brings nearer.
        for (bool is_changed = true; is_changed;) {
            is_changed = false;
            for (const Function* function : from_.functions) {
                Key key{function->domain, function->name, function->overload};
                if (overloads_.count(key) == 0 && is_taken(*function)) {
                    overloads_[key] = to_.intern(free_overload(*function));
                    is_changed = true;
                }
            }
        }
    }

    bool is_taken(const Function& function) const {
        const Function* found =
            to_.find_function(function.domain, function.name, function.overload);
        return found != nullptr && (!same_functions(function, *found) || calls_renamed(function));
    }

    bool calls_renamed(const Function& function) const {
        bool found = false;
        for (const Node& node : *function.body) {
            stop_point();
            found = found || calls_renamed(node);
        }
        return found;
    }

    bool calls_renamed(const Node& node) const {
        bool found = overloads_.count({node.domain, node.op_type, node.overload}) != 0;
        for_each_subgraph(node, [&](const Graph& graph) {
            for (const Node& inner : graph) {
                stop_point();
                found = found || calls_renamed(inner);
            }
        });
        return found;
    }

    std::string free_overload(const Function& function) const {
        for (int number = 1;; ++number) {
            std::string overload = std::string(function.overload) + "_" + std::to_string(number);
            bool is_used = to_.find_function(function.domain, function.name, overload) != nullptr ||
                           from_.find_function(function.domain, function.name, overload) != nullptr;
            if (!is_used) {
                return overload;
            }
        }
    }

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

    Function& copy(const Function& function) {
        Function& copied = *to_.add_function(function.domain, function.name, overload_of(function));
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
        return copied;
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
            Value* value = to_.add_input(&copied, name_of(*input));
            say(*input, *value);
        }
        for (const Value* initializer : given.initializers) {
            add_initializer(*initializer, copied);
        }
        for (const Node& node : given) {
            stop_point();
            add_node(node, copied, nullptr);
        }
        for (const Value* output : given.outputs) {
            copied.outputs.push_back(counterpart(*output));
        }
    }

    void add_initializer(const Value& given, Graph& graph) {
        if (given.is_graph_input()) {
            Value* value = values_.at(&given);
            value->constant.reset();
            given.sparse != nullptr ? add_sparse_default(to_, value, *given.sparse)
                                    : to_.add_default(value, *given.constant);
            return;
        }
        Value* value = given.sparse != nullptr
                           ? to_.add_sparse_initializer(&graph, name_of(given), *given.sparse)
                           : to_.add_initializer(&graph, name_of(given), *given.constant);
        say(given, *value);
    }

    Node& add_node(const Node& given, Graph& graph, Node* position) {
        std::vector<Value*> inputs;
        for (const Use& use : given.inputs()) {
            inputs.push_back(use.value != nullptr ? counterpart(*use.value) : nullptr);
        }
        Node& node = *to_.make_node(given.domain, given.op_type, inputs, given.output_count());
        node.overload = text(overload_of(given, given.op_type));
        node.name = text(given.name);
        node.doc = text(given.doc);
        node.metadata = metadata(given.metadata);
        node.preserved = text(given.preserved);
        node.span = given.span;
        for (const Attribute& attribute : given.attributes) {
            if (const Attribute* meant = meaning_of(attribute)) {
                node.attributes.push_back(this->attribute(*meant, &graph));
                node.attributes.back().name = text(attribute.name);
            }
        }
        graph.insert(&node, position);
        for (size_t i = 0; i < given.output_count(); ++i) {
            node.output(i)->name = name_of(*given.output(i));
            say(*given.output(i), *node.output(i));
        }
        return node;
    }

    // What is not copied is around a graph that a call gives to a function.
    Value* counterpart(const Value& value) const {
        auto found = values_.find(&value);
        return found != values_.end() ? found->second : const_cast<Value*>(&value);
    }

    // What a reference means at the call; null: nothing.
    const Attribute* meaning_of(const Attribute& attribute) const {
        if (!attribute.is_reference() || call_ == nullptr) {
            return &attribute;
        }
        if (const Attribute* given = call_->find_attribute(attribute.reference)) {
            return given;
        }
        for (const Attribute& one : function_->attribute_defaults) {
            if (one.name == attribute.reference) {
                return &one;
            }
        }
        return nullptr;
    }

    std::string_view name_of(const Value& given) {
        bool is_new = name_of_ != nullptr && !given.name.empty();
        return text(is_new ? (*name_of_)(given.name) : std::string(given.name));
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
        values_.emplace(&given, &value);
        value.doc = text(given.doc);
        value.metadata = metadata(given.metadata);
        value.span = given.span;
        if (name_of_ != nullptr) {
            return;  // names of dimensions mean other sizes here
        }
        value.type = given.type;
        value.constant = given.constant;
        if (given.content != nullptr) {
            value.content = std::make_unique<SymbolicContent>(*given.content);
        }
        value.preserved = text(given.preserved);
    }

    const Model& from_;
    Model& to_;
    std::unordered_map<const Value*, Value*> values_;
    std::map<Key, std::string_view> overloads_;                              // those that change
    const std::function<std::string(std::string_view)>* name_of_ = nullptr;  // null: as they are
    // Of the body of a function that takes the place of a call.
    const Node* call_ = nullptr;
    const Function* function_ = nullptr;
    Node* position_ = nullptr;
};

}  // namespace

std::unique_ptr<Model> copy(const Model& model) {
    auto copied = std::make_unique<Model>();
    Copier(model, *copied).copy();
    return copied;
}

Spliced splice(Model& to, Graph& graph, const Model& from, std::span<Value* const> inputs,
               const std::function<std::string(std::string_view)>& name_of) {
    return Copier(from, to).splice(graph, inputs, name_of);
}

Spliced expand(Model& model, Node& call, const Function& function,
               const std::function<std::string(std::string_view)>& name_of) {
    return Copier(model, model).expand(call, function, name_of);
}

}  // namespace sardonyx::ir
