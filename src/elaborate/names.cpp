#include "elaborate/names.h"

#include <cctype>
#include <cstdio>
#include <string>
#include <unordered_set>
#include <vector>

#include "elaborate/emit.h"

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
            int length = std::snprintf(digits, sizeof digits, "_%d", ++number);
            text.assign(hint).append(digits, static_cast<size_t>(length));
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

void remove_dead_nodes(ir::Graph& graph) {
    std::unordered_set<const ir::Value*> outputs(graph.outputs.begin(), graph.outputs.end());
    for (ir::Node* node = graph.last_node(); node != nullptr;) {
        ir::Node* previous = node->previous();
        bool used = false;
        for (const ir::Value* output : node->outputs()) {
            used = used || output->has_uses() || outputs.count(output) != 0;
        }
        for (const ir::Attribute& attribute : node->attributes) {
            if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                if (used) {
                    remove_dead_nodes(**inner);
                } else {
                    discard(**inner);
                }
            }
        }
        if (!used) {
            graph.remove(node);
        }
        node = previous;
    }
}

void name_values(ir::Model& model, ir::Graph& graph) {
    Naming naming{model, {}, {}};
    for (ir::Value* input : graph.inputs) {
        naming.reserve(input->name);
    }
    for (ir::Value* initializer : graph.initializers) {
        initializer->name = naming.make(initializer->name.empty() ? "const" : initializer->name);
    }
    naming.name_graph(graph);
}

}  // namespace sardonyx::elaborate
