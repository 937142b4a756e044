#include "models/extract.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/stop.h"
#include "infer/infer.h"
#include "models/unused.h"
#include "models/values.h"
#include "types/domain.h"
#include "types/type_meant.h"

namespace sardonyx::models {
namespace {

class Extractor {
  public:
    Extractor(ir::Model& model, const ExtractRequest& request) : model_(model), request_(request) {}

    Result<void> run() {
        SDX_TRY(find());
        if (model_.graph != nullptr) {
            (void)infer::infer_model(model_);
            find_call(*model_.graph);
        }
        SDX_TRY(check_names());
        SDX_TRY(make_graph());
        if (call_ == nullptr || !is_complete()) {
            (void)infer::infer_model(model_);
        }
        for (const ir::Value* output : model_.graph->outputs) {
            if (!output->type.is_known()) {
                return Error{
                    fmt::format("the type of the output `{}` is not known; give those of "
                                "the inputs with `--input NAME=TYPE`",
                                output->name)};
            }
        }
        remove_unused(model_);
        return {};
    }

  private:
    static std::string full_name(const ir::Function& function) {
        return fmt::format("{}:{}", shown_domain(function.domain), function.name);
    }

    Result<void> find() {
        std::vector<std::string> known;
        size_t count = 0;
        for (ir::Function* one : model_.functions) {
            known.push_back(full_name(*one));
            bool is_it = request_.function == one->name || request_.function == known.back() ||
                         request_.function == known.back() + ":" + std::string(one->overload);
            function_ = is_it ? one : function_;
            count += is_it ? 1 : 0;
        }
        if (count == 1) {
            return {};
        }
        if (count > 1) {
            return Error{fmt::format("there are {} functions `{}`: write `domain:name:overload`",
                                     count, request_.function)};
        }
        std::vector<std::string_view> names(known.begin(), known.end());
        for (const ir::Function* one : model_.functions) {
            names.push_back(one->name);
        }
        return Error{fmt::format(
            "there is no function `{}`{}", request_.function,
            known.empty() ? "; the model has none" : did_you_mean(request_.function, names))};
    }

    void find_call(ir::Graph& graph) {
        for_each_graph(graph, [this](ir::Graph& each) {
            for (const ir::Node& node : each) {
                stop_point();
                bool is_call = node.domain == function_->domain &&
                               node.op_type == function_->name &&
                               node.overload == function_->overload;
                call_ = call_ == nullptr && is_call ? &node : call_;
            }
        });
    }

    Result<void> check_names() const {
        std::vector<std::string_view> names;
        for (const ir::Value* input : function_->body->inputs) {
            names.push_back(input->name);
        }
        for (const auto& [name, type] : request_.types) {
            if (std::find(names.begin(), names.end(), name) == names.end()) {
                return Error{fmt::format("the function has no input `{}`{}", name,
                                         did_you_mean(name, names))};
            }
        }
        return {};
    }

    Result<Type> type_of(const ir::Value& input, size_t index) const {
        for (const auto& [name, text] : request_.types) {
            if (name == input.name) {
                std::optional<Type> type = parse_type(text);
                return type ? Result<Type>(*type)
                            : Error{fmt::format("`{}={}`: this is not a type; write it as "
                                                "`{}=FLOAT[N,4]`{}",
                                                name, text, name, type_help(text))};
            }
        }
        const ir::Value* given = call_ != nullptr ? call_->input(index) : nullptr;
        const Type& type = input.type.is_known() || given == nullptr ? input.type : given->type;
        if (!type.is_known()) {
            return Error{
                fmt::format("the type of the input `{0}` is not known; give it with "
                            "`--input '{0}=FLOAT[N,4]'`",
                            input.name)};
        }
        return type;
    }

    Result<void> make_graph() {
        ir::Graph* graph = model_.make_graph(nullptr);
        graph->name = function_->name;
        graph->doc = function_->doc;
        std::vector<ir::Value*> inputs;
        for (size_t i = 0; i < function_->body->inputs.size(); ++i) {
            const ir::Value& given = *function_->body->inputs[i];
            SDX_ASSIGN(Type type, type_of(given, i));
            inputs.push_back(model_.add_input(graph, given.name, std::move(type)));
        }
        std::vector<std::string_view> names;
        for (const ir::Value* output : function_->body->outputs) {
            names.push_back(output->name);
        }
        ir::Node* node = model_.make_node(function_->domain, function_->name, inputs, names);
        node->overload = function_->overload;
        SDX_TRY(add_attributes(*node));
        graph->insert(node);
        graph->outputs.assign(node->outputs().begin(), node->outputs().end());
        for (size_t i = 0; i < node->output_count() && is_complete(); ++i) {
            const ir::Value* given = call_->output(i);
            node->output(i)->type = given != nullptr ? given->type : Type();
        }
        import_domain();
        model_.graph = graph;
        return {};
    }

    // Whether the call's types are those of the new inputs.
    bool is_complete() const { return call_ != nullptr && request_.types.empty(); }

    Result<void> add_attributes(ir::Node& node) const {
        for (const ir::Attribute& attribute :
             call_ != nullptr ? call_->attributes : std::vector<ir::Attribute>()) {
            bool has_graph = attribute.get<ir::Graph*>() != nullptr ||
                             attribute.get<std::vector<ir::Graph*>>() != nullptr;
            if (has_graph) {
                return Error{
                    fmt::format("the attribute `{}` of the call is a graph, which reads "
                                "values of the surrounding graph",
                                attribute.name)};
            }
            node.attributes.push_back(attribute);
        }
        for (std::string_view name : function_->attributes) {
            if (node.find_attribute(name) == nullptr && call_ == nullptr) {
                return Error{
                    fmt::format("nothing calls `{}`, and its attribute `{}` has no "
                                "default",
                                request_.function, name)};
            }
        }
        return {};
    }

    void import_domain() {
        if (model_.opset_version(function_->domain) == 0) {
            model_.opset_imports.push_back({function_->domain, 1});
        }
        if (model_.graph == nullptr) {
            for (const ir::OpsetImport& import : function_->opset_imports) {
                if (model_.opset_version(import.domain) == 0) {
                    model_.opset_imports.push_back(import);
                }
            }
        }
    }

    ir::Model& model_;
    const ExtractRequest& request_;
    ir::Function* function_ = nullptr;
    const ir::Node* call_ = nullptr;  // the first one, of the old graph
};

}  // namespace

Result<void> extract_function(ir::Model& model, const ExtractRequest& request) {
    return Extractor(model, request).run();
}

}  // namespace sardonyx::models
