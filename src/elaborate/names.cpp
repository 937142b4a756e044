#include "elaborate/names.h"

#include <cctype>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "elaborate/emit.h"

namespace sardonyx::elaborate {
namespace {

struct Naming {
    ir::Model& model;
    // The last number given out after each name, 0 when only the name itself has been.
    std::unordered_map<std::string, int> used;

    std::string_view make(std::string hint) {
        auto [place, is_new] = used.try_emplace(hint, 0);
        if (is_new) {
            return model.intern(hint);
        }
        std::string name;
        do {
            name = hint + "_" + std::to_string(++place->second);
        } while (used.count(name) != 0);
        used.emplace(name, 0);
        return model.intern(name);
    }

    void name_graph(ir::Graph& graph) {
        for (ir::Node& node : graph) {
            for (ir::Value* output : node.outputs()) {
                output->name = make(output->name.empty() ? lower_case(node.op_type)
                                                         : std::string(output->name));
            }
            for (const ir::Attribute& attribute : node.attributes) {
                if (ir::Graph* const* inner = attribute.get<ir::Graph*>()) {
                    for (ir::Value* input : (*inner)->inputs) {
                        input->name = make(std::string(input->name));
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
    Naming naming{model, {}};
    for (ir::Value* input : graph.inputs) {
        naming.used.emplace(std::string(input->name), 0);
    }
    for (ir::Value* initializer : graph.initializers) {
        initializer->name =
            naming.make(initializer->name.empty() ? "const" : std::string(initializer->name));
    }
    naming.name_graph(graph);
}

}  // namespace sardonyx::elaborate
