#include "infer/model_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/stop.h"
#include "infer/diagnostics.h"
#include "infer/schema_check.h"
#include "ir/describe.h"
#include "ir/sparse.h"
#include "ops/ops.h"
#include "ops/schema_set.h"
#include "types/domain.h"

namespace sardonyx::infer {
namespace {

// What nodes may name.
class Names {
  public:
    Names(const ir::Model& model, const ops::SchemaSet* schemas) : schemas_(schemas) {
        for (const ir::Function* function : model.functions) {
            functions_.emplace(std::pair(normal_domain(function->domain), function->name),
                               function);
        }
    }

    // What a node names.
    struct Found {
        const ir::Function* function = nullptr;
        const ops::Schema* schema = nullptr;  // null: of a function, or of a domain that only
                                              // somebody else knows
        // What is wrong with the name, and what to do; empty: nothing is.
        std::string problem = {}, help = {};
    };
    // Most nodes call one of a few operators. Each text of a model is there once, so that it is
    // known by its address.
    const Found& find(const ir::Node& node, std::span<const ir::OpsetImport> imports) {
        Key key{node.domain.data(), node.op_type.data(), imports.data()};
        Recent& recent = recent_[std::hash<const void*>()(node.op_type.data()) % kRecent];
        if (recent.key != key || key[1] == nullptr) {
            recent = {key, look_up(node, imports)};
        }
        return recent.found;
    }

  private:
    using Key = std::array<const void*, 3>;
    struct Recent {
        Key key = {};
        Found found;
    };
    static constexpr size_t kRecent = 61;

    Found look_up(const ir::Node& node, std::span<const ir::OpsetImport> imports) const {
        std::string_view domain = normal_domain(node.domain);
        if (auto function = functions_.find({domain, node.op_type}); function != functions_.end()) {
            return {function->second};
        }
        std::string_view shown = shown_domain(domain);
        int64_t version = ir::opset_version(imports, domain);
        if (version == 0) {
            return {nullptr, nullptr, fmt::format("the domain `{}` is not imported", shown),
                    fmt::format("add a version of `{}` to `opset_import`", shown)};
        }
        const ops::Schema* schema = ops::find_schema(schemas_, domain, node.op_type, version);
        if (schema != nullptr || ops::find_domain(domain) == nullptr) {
            return {nullptr, schema};
        }
        std::string_view near = ops::nearest_operator(schemas_, domain, node.op_type, version);
        return {nullptr, nullptr,
                fmt::format("there is no such operator in version {} of the domain `{}`, and no "
                            "function of that name",
                            version, shown),
                near.empty() ? "" : fmt::format("did you mean `{}`?", near)};
    }

    const ops::SchemaSet* schemas_;
    std::array<Recent, kRecent> recent_;
    std::map<std::pair<std::string_view, std::string_view>, const ir::Function*> functions_;
};

// Calls visit(node) for the nodes of a graph and its subgraphs until one returns false.
template <typename Visit>
bool for_each_node(const ir::Graph& graph, const Visit& visit) {
    StopCounter stops;
    for (const ir::Node& node : graph) {
        stops.step();
        if (!visit(node)) {
            return false;
        }
        for (const ir::Attribute& attribute : node.attributes) {
            if (ir::Graph* const* subgraph = attribute.get<ir::Graph*>()) {
                if (!for_each_node(**subgraph, visit)) {
                    return false;
                }
            } else if (auto* subgraphs = attribute.get<std::vector<ir::Graph*>>()) {
                for (const ir::Graph* each : *subgraphs) {
                    if (!for_each_node(*each, visit)) {
                        return false;
                    }
                }
            }
        }
    }
    return true;
}

}  // namespace

namespace {

// An output that the operator always has, and that the node gives no name.
std::string nameless_output(const ir::Node& node, const ops::Schema& schema) {
    for (size_t i = 0; i < std::min(node.output_count(), schema.outputs.size()); ++i) {
        if (schema.outputs[i].option == ops::ParameterOption::kSingle &&
            node.output(i)->name.empty()) {
            return fmt::format("output `{}` of `{}` has no name, and is required",
                               schema.outputs[i].name, node.op_type);
        }
    }
    return {};
}

}  // namespace

void check_node_names(const ir::Model& model, const ops::SchemaSet* schemas,
                      std::vector<Finding>& findings) {
    Names names(model, schemas);
    auto check = [&](const ir::Graph& graph, std::span<const ir::OpsetImport> imports) {
        for_each_node(graph, [&](const ir::Node& node) {
            const Names::Found& found = names.find(node, imports);
            if (!found.problem.empty()) {
                findings.push_back(
                    {&kUnresolvedNode, found.problem, found.help, -1, -1, {}, node.span});
            } else if (found.schema != nullptr) {
                std::string message = nameless_output(node, *found.schema);
                if (!message.empty()) {
                    findings.push_back(
                        {&kArgumentCount, std::move(message), "name it", -1, -1, {}, node.span});
                }
            }
            return true;
        });
    };
    for (const ir::Function* function : model.functions) {
        check(*function->body, function->opset_imports);
    }
    check(*model.graph, model.opset_imports);
}

namespace {

// What any run knows of the types in the main graph: those of inputs and initializers, and what
// follows from them by the type variables of the operators alone.
class CertainTypes {
  public:
    explicit CertainTypes(const ir::Graph& graph) {
        for (const ir::Value* input : graph.inputs) {
            set(*input, input->type);
        }
        for (const ir::Value* value : graph.initializers) {
            if (!value->is_graph_input()) {
                set(*value, Type::tensor(value->type.element_type()));
            }
        }
    }

    void of_inputs(const ir::Node& node, std::vector<Type>* types) const {
        types->clear();
        for (size_t i = 0; i < node.input_count(); ++i) {
            auto found = types_.find(node.input(i));
            types->push_back(found == types_.end() ? Type() : Type::tensor(found->second));
        }
    }

    void add_outputs(const ir::Node& node, const ops::Schema& schema,
                     std::span<const Type> inputs) {
        for (size_t i = 0; i < node.output_count(); ++i) {
            const ops::Parameter* output = schema.output(i);
            if (output == nullptr ||
                (output->option == ops::ParameterOption::kVariadic && !output->is_homogeneous)) {
                return;
            }
            for (size_t k = 0; k < inputs.size(); ++k) {
                const ops::Parameter* input = schema.input(k);
                if (input != nullptr && input->type_variable == output->type_variable) {
                    set(*node.output(i), inputs[k]);
                    break;
                }
            }
        }
    }

  private:
    void set(const ir::Value& value, const Type& type) {
        if (type.is_tensor() && type.element_type() != ElementType::kUndefined) {
            types_.emplace(&value, type.element_type());
        }
    }

    std::unordered_map<const ir::Value*, ElementType> types_;
};

// Where the types of inputs, which no run takes others of, do not fit the nodes of the main graph.
std::string first_mistyped_node(const ir::Model& model, Names& names) {
    CertainTypes types(*model.graph);
    std::vector<Type> inputs;
    StopCounter stops;
    for (const ir::Node& node : *model.graph) {
        stops.step();
        const ops::Schema* schema = names.find(node, model.opset_imports).schema;
        if (schema == nullptr) {
            continue;
        }
        types.of_inputs(node, &inputs);
        if (std::string problem = type_problem(node, *schema, inputs); !problem.empty()) {
            return fmt::format("{}: {}", ir::describe(node), problem);
        }
        types.add_outputs(node, *schema, inputs);
    }
    return {};
}

}  // namespace

std::string first_hopeless_node(const ir::Model& model) {
    std::string result;
    if (model.graph == nullptr) {
        return result;
    }
    Names names(model, nullptr);
    std::set<const ir::Function*> called;
    std::vector<const ir::Function*> waiting;
    auto search = [&](const ir::Graph& graph, std::span<const ir::OpsetImport> imports) {
        for_each_node(graph, [&](const ir::Node& node) {
            const Names::Found& found = names.find(node, imports);
            std::string problem = found.problem;
            if (problem.empty() && found.schema != nullptr) {
                auto problems = signature_problems(node, *found.schema);
                problem = problems.empty() ? "" : problems[0].message;
            }
            if (!problem.empty()) {
                result = fmt::format("{}: {}", ir::describe(node), problem);
            } else if (found.function != nullptr && called.insert(found.function).second) {
                waiting.push_back(found.function);
            }
            return result.empty();
        });
    };
    search(*model.graph, model.opset_imports);
    while (!waiting.empty() && result.empty()) {
        const ir::Function* function = waiting.back();
        waiting.pop_back();
        search(*function->body, function->opset_imports);
    }
    return result.empty() ? first_mistyped_node(model, names) : result;
}

void check_defaults(const ir::Model& model, std::vector<Finding>& findings) {
    for (const ir::Value* input : model.graph->inputs) {
        if (!input->is_initializer()) {
            continue;
        }
        Type given =
            input->sparse != nullptr ? ir::dense_type(*input->sparse) : input->constant->type();
        if (!merge(given, input->type).has_value()) {
            findings.push_back(
                {&kDeclaredTypeMismatch,
                 fmt::format("input `{}` is declared as {}, and its default is {}", input->name,
                             input->type.to_string(), given.to_string()),
                 "correct one of the two"});
        }
    }
}

void check_recursion(const ir::Model& model, std::vector<Finding>& findings) {
    bool is_reported = std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.kind == &kRecursiveFunction;
    });
    if (is_reported || model.functions.empty()) {
        return;
    }
    using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
    std::map<Key, size_t> numbers;
    for (size_t i = 0; i < model.functions.size(); ++i) {
        const ir::Function& function = *model.functions[i];
        numbers.emplace(Key{normal_domain(function.domain), function.name, function.overload}, i);
    }
    std::vector<std::vector<size_t>> callers(model.functions.size());
    std::vector<size_t> left(model.functions.size(), 0);  // calls of functions that may recur
    for (size_t i = 0; i < model.functions.size(); ++i) {
        for_each_node(*model.functions[i]->body, [&](const ir::Node& node) {
            auto callee = numbers.find({normal_domain(node.domain), node.op_type, node.overload});
            if (callee != numbers.end()) {
                callers[callee->second].push_back(i);
                ++left[i];
            }
            return true;
        });
    }
    std::vector<size_t> done;
    for (size_t i = 0; i < left.size(); ++i) {
        if (left[i] == 0) {
            done.push_back(i);
        }
    }
    for (size_t k = 0; k < done.size(); ++k) {
        for (size_t caller : callers[done[k]]) {
            if (--left[caller] == 0) {
                done.push_back(caller);
            }
        }
    }
    auto stuck = std::find_if(left.begin(), left.end(), [](size_t calls) { return calls > 0; });
    if (stuck != left.end()) {
        const ir::Function& function = *model.functions[stuck - left.begin()];
        Finding finding;
        finding.kind = &kRecursiveFunction;
        finding.message = fmt::format(
            "function `{}` calls itself, directly or through others, or calls such a function",
            function.name);
        finding.help = "ONNX has no recursion; use `Loop` or `Scan`";
        findings.push_back(std::move(finding));
    }
}

}  // namespace sardonyx::infer
