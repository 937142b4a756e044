#include "elaborate/emit/names.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "elaborate/emit/emit.h"
#include "elaborate/objects/object.h"
#include "ir/standard.h"

namespace sardonyx::elaborate {
namespace {

struct Naming {
    ir::Model& model;
    // By symbol: the last number given out after the name; kFree: nobody has it.
    static constexpr int kFree = -1;
    std::vector<int> used;
    std::string text;

    int& place(Symbol name) {
        if (name.index >= used.size()) {
            used.resize(2 * static_cast<size_t>(name.index) + 64, kFree);
        }
        return used[name.index];
    }

    void reserve(std::string_view name) { place(model.symbol(name)) = 0; }

    std::string_view make(std::string_view hint) {
        Symbol name = model.symbol(hint);
        if (place(name) == kFree) {
            place(name) = 0;
            return model.text(name);
        }
        int number = place(name);
        Symbol candidate;
        do {
            char digits[16];
            const char* end = std::to_chars(digits, std::end(digits), ++number).ptr;
            text.assign(hint).append(1, '_').append(digits, static_cast<size_t>(end - digits));
            candidate = model.symbol(text);
        } while (place(candidate) != kFree);
        place(candidate) = 0;
        place(name) = number;
        return model.text(candidate);
    }

    void name_graph(ir::Graph& graph) {
        for (ir::Node& node : graph) {
            for (ir::Value* output : node.outputs()) {
                output->name =
                    output->name.empty() ? make(lower_case(node.op_type)) : make(output->name);
            }
            for (const ir::Attribute& attribute : node.attributes) {
                if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                    for (ir::Value* input : (*inner)->inputs) {
                        input->name = make(input->name);
                    }
                    name_graph(**inner);
                }
            }
        }
    }

    static std::string lower_case(std::string_view text) {
        std::string result(text);
        for (char& c : result) {
            c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        }
        return result;
    }
};

}  // namespace

namespace {

// The outputs of a graph, for many questions; the graph's stay as they are meanwhile.
class Outputs {
  public:
    explicit Outputs(const ir::Graph& graph) : few_(graph.outputs) {
        if (few_.size() > kFew) {
            many_.assign(few_.begin(), few_.end());
            std::sort(many_.begin(), many_.end(), std::less<>());
        }
    }
    bool contains(const ir::Value* value) const {
        return many_.empty() ? std::find(few_.begin(), few_.end(), value) != few_.end()
                             : std::binary_search(many_.begin(), many_.end(), value, std::less<>());
    }

  private:
    static constexpr size_t kFew = 16;
    std::span<ir::Value* const> few_;
    std::vector<const ir::Value*> many_;  // sorted; empty where they are few
};

bool is_used(const ir::Value* value, const Outputs& outputs) {
    return value->has_uses() || outputs.contains(value);
}

template <typename Do>
void each_subgraph(const ir::Node& node, Do act) {
    for (const ir::Attribute& attribute : node.attributes) {
        if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
            act(**inner);
        }
    }
}

ir::Graph* first_subgraph(const ir::Node& node) {
    for (const ir::Attribute& attribute : node.attributes) {
        if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
            return *inner;
        }
    }
    return nullptr;
}

// Which outputs of an If or Loop are wanted. A value that a loop carries is, too, when its body
// reads it.
std::vector<bool> wanted_outputs(const ir::Node& node, const Outputs& outputs) {
    std::vector<bool> wanted;
    const ir::Graph* body = ir::is_standard(node, "Loop") ? first_subgraph(node) : nullptr;
    for (size_t i = 0; i < node.output_count(); ++i) {
        bool is_state = body != nullptr && i + 2 < body->inputs.size();
        wanted.push_back(is_used(node.output(i), outputs) ||
                         (is_state && body->inputs[i + 2]->has_uses()));
    }
    return wanted;
}

template <typename T>
void keep_only(std::vector<T>& items, const std::vector<bool>& wanted, size_t first) {
    size_t kept = first;
    for (size_t i = first; i < items.size(); ++i) {
        if (i - first >= wanted.size() || wanted[i - first]) {
            items[kept++] = items[i];
        }
    }
    items.resize(kept);
}

// Puts a node with these inputs, and the outputs that are wanted, in the place of another one.
ir::Node* put_instead(ir::Model& model, ir::Graph& graph, ir::Node* node,
                      std::span<ir::Value* const> inputs, const std::vector<bool>& wanted) {
    std::vector<std::string_view> names;
    for (size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i]) {
            names.push_back(node->output(i)->name);
        }
    }
    ir::Node* made = model.make_node(node->domain, node->op_type, inputs, names);
    made->attributes = std::move(node->attributes);
    node->attributes.clear();
    made->span = node->span;
    graph.insert(made, node);
    for (size_t i = 0, next = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) {
            continue;
        }
        ir::Value *before = node->output(i), *after = made->output(next++);
        after->type = before->type;
        after->span = before->span;
        before->replace_uses_with(after);
        std::replace(graph.outputs.begin(), graph.outputs.end(), before, after);
    }
    graph.remove(node);
    return made;
}

// Takes the outputs that are not wanted from an If or Loop.
ir::Node* without_outputs(ir::Model& model, ir::Graph& graph, ir::Node* node,
                          const std::vector<bool>& wanted) {
    bool is_loop = ir::is_standard(node, "Loop");
    std::vector<ir::Value*> inputs;
    for (const ir::Use& use : node->inputs()) {
        inputs.push_back(use.value);
    }
    each_subgraph(*node, [&](ir::Graph& body) {
        keep_only(body.outputs, wanted, is_loop ? 1 : 0);
        if (is_loop) {
            keep_only(inputs, wanted, 2);
            keep_only(body.inputs, wanted, 2);
        }
    });
    return put_instead(model, graph, node, inputs, wanted);
}

// Takes the node out if nobody uses its results; whether it has.
bool remove_unused(ir::Graph& graph, ir::Node* node, const Outputs& outputs) {
    std::span<ir::Value* const> all = node->outputs();
    if (std::any_of(all.begin(), all.end(),
                    [&outputs](const ir::Value* output) { return is_used(output, outputs); })) {
        return false;
    }
    each_subgraph(*node, [](ir::Graph& inner) { discard(inner); });
    graph.remove(node);
    return true;
}

// Takes out the nodes whose results nobody uses, without a look into the others' subgraphs.
void sweep(ir::Graph& graph) {
    Outputs outputs(graph);
    for (ir::Node* node = graph.last_node(); node != nullptr;) {
        ir::Node* previous = node->previous();
        remove_unused(graph, node, outputs);
        node = previous;
    }
}

// Takes the outputs that are not wanted from an If or Loop; the node that is in its place after.
ir::Node* shrink(ir::Model& model, ir::Graph& graph, ir::Node* node) {
    bool is_control = ir::is_standard(node, "If") || ir::is_standard(node, "Loop");
    while (is_control && first_subgraph(*node) != nullptr) {
        Outputs outputs(graph);
        std::vector<bool> wanted = wanted_outputs(*node, outputs);
        if (std::find(wanted.begin(), wanted.end(), false) == wanted.end()) {
            break;
        }
        node = without_outputs(model, graph, node, wanted);
        // Without an output its body may read less of what it carries.
        each_subgraph(*node, sweep);
    }
    return node;
}

// Writes the names of the values that Gradient nodes have behind their inputs into their
// attributes.
void name_differentiated(ir::Model& model, ir::Graph& graph) {
    for (ir::Node* node = graph.last_node(); node != nullptr;) {
        ir::Node* previous = node->previous();
        each_subgraph(*node, [&model](ir::Graph& inner) { name_differentiated(model, inner); });
        std::vector<DifferentiatedName> names =
            differentiated_names(node->domain, node->op_type, node->attributes);
        // Each name but `y` is that of an own input too.
        if (!names.empty() && node->input_count() + 1 == 2 * names.size()) {
            std::vector<ir::Value*> inputs;
            for (const ir::Use& use : node->inputs()) {
                inputs.push_back(use.value);
            }
            size_t own = inputs.size() - names.size();
            for (size_t i = 0; i < names.size(); ++i) {
                *names[i].text = inputs[own + i]->name;
            }
            inputs.resize(own);
            put_instead(model, graph, node, inputs, std::vector<bool>(node->output_count(), true));
        }
        node = previous;
    }
}

// The one operator of another domain whose strings name values.
bool is_gradient(std::string_view domain, std::string_view name) {
    return domain == "ai.onnx.preview.training" && name == "Gradient";
}

}  // namespace

std::vector<DifferentiatedName> differentiated_names(std::string_view domain,
                                                     std::string_view op_type,
                                                     std::span<ir::Attribute> attributes) {
    std::vector<DifferentiatedName> names;
    if (!is_gradient(domain, op_type)) {
        return names;
    }
    for (std::string_view key : {"xs", "zs", "y"}) {
        for (ir::Attribute& attribute : attributes) {
            if (attribute.name != key) {
                continue;
            }
            if (attribute.is_reference()) {
                return {};
            }
            if (auto* text = std::get_if<std::string>(&attribute.value)) {
                names.push_back({key, text});
            } else if (auto* list = std::get_if<std::vector<std::string>>(&attribute.value)) {
                for (std::string& one : *list) {
                    names.push_back({key, &one});
                }
            }
        }
    }
    return names;
}

void remove_dead_nodes(ir::Model& model, ir::Graph& graph) {
    // From the last node on, so that all nodes that read a result are done before its own.
    Outputs outputs(graph);
    for (ir::Node* node = graph.last_node(); node != nullptr;) {
        ir::Node* previous = node->previous();
        if (!remove_unused(graph, node, outputs)) {
            node = shrink(model, graph, node);
            each_subgraph(*node, [&model](ir::Graph& inner) { remove_dead_nodes(model, inner); });
            previous = shrink(model, graph, node)->previous();
        }
        node = previous;
    }
}

void remove_unused_initializers(ir::Graph& graph) {
    // A default is said of its input, which callers may leave out, whether it is read or not.
    std::erase_if(graph.initializers, [&graph](const ir::Value* value) {
        return !value->has_uses() && !value->is_graph_input() &&
               std::find(graph.outputs.begin(), graph.outputs.end(), value) == graph.outputs.end();
    });
}

void name_values(ir::Model& model, ir::Graph& graph) {
    Naming naming{model, {}, {}};
    for (ir::Value* input : graph.inputs) {
        naming.reserve(input->name);
    }
    for (ir::Value* initializer : graph.initializers) {
        if (initializer->is_graph_input()) {
            continue;  // a default: it has the input's name
        }
        initializer->name = naming.make(initializer->name.empty() ? "const" : initializer->name);
    }
    naming.name_graph(graph);
    name_differentiated(model, graph);
}

}  // namespace sardonyx::elaborate
