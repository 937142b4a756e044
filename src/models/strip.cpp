#include "models/strip.h"

#include <algorithm>

#include "ir/graph_walk.h"
#include "models/values.h"

namespace sardonyx::models {
namespace {

class Stripper {
  public:
    Stripper(ir::Model& model, const StripRequest& request) : model_(model), request_(request) {}

    Stripped run() {
        if (request_.unused) {
            result_.removed = remove_unused(model_);
        }
        strip_texts(model_.doc, model_.metadata);
        forget(request_.docs, model_.producer_name, result_.docs);
        forget(request_.docs, model_.producer_version, result_.docs);
        forget(request_.notes, model_.preserved, result_.notes);
        strip_graph(*model_.graph);
        for (ir::Function* function : model_.functions) {
            strip_texts(function->doc, function->metadata);
            strip_graph(*function->body);
        }
        return result_;
    }

  private:
    static void forget(bool wanted, std::string_view& text, size_t& count) {
        if (wanted && !text.empty()) {
            text = {};
            ++count;
        }
    }

    void strip_texts(std::string_view& doc, ir::Metadata& metadata) {
        forget(request_.docs, doc, result_.docs);
        if (request_.metadata) {
            result_.metadata += metadata.size();
            metadata.clear();
        }
    }

    void strip_graph(ir::Graph& graph) {
        for_each_graph(graph, [this](ir::Graph& each) { strip_nodes(each); });
        for_each_value(graph, [this](ir::Value& value) { strip_value(value); });
    }

    void strip_nodes(ir::Graph& graph) {
        strip_texts(graph.doc, graph.metadata);
        forget(request_.notes, graph.preserved, result_.notes);
        for (ir::Node& node : graph) {
            strip_texts(node.doc, node.metadata);
            forget(request_.names, node.name, result_.names);
            forget(request_.notes, node.preserved, result_.notes);
            for (ir::Attribute& attribute : node.attributes) {
                forget(request_.docs, attribute.doc, result_.docs);
            }
        }
    }

    void strip_value(ir::Value& value) {
        strip_texts(value.doc, value.metadata);
        bool is_interface =
            value.is_graph_input() || value.is_initializer() || ir::is_graph_output(value);
        bool is_stated = value.type.is_known() || !value.preserved.empty();
        if (request_.types && !is_interface && is_stated) {
            value.type = Type();
            value.preserved = {};
            ++result_.types;
        }
    }

    ir::Model& model_;
    const StripRequest& request_;
    Stripped result_;
};

}  // namespace

Result<Stripped> strip(ir::Model& model, const StripRequest& request) {
    SDX_TRY(main_graph(model));
    return Stripper(model, request).run();
}

}  // namespace sardonyx::models
