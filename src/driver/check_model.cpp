// A model has no text to point at. While it is checked, the span of each node is its number, so
// that a finding of inference, which has the span of its node, tells which node it is about.
#include "driver/check_model.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "base/file.h"
#include "base/stop.h"
#include "driver/diagnostics.h"
#include "elaborate/diagnostics.h"
#include "infer/infer.h"
#include "infer/opset_versions.h"
#include "ir/describe.h"
#include "ir/verify.h"
#include "ops/schema_set.h"
#include "proto/proto.h"

namespace sardonyx::driver {
namespace {

class Nodes {
  public:
    explicit Nodes(diagnostics::FileId file) : file_(file) {}

    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;
    ~Nodes() {
        for (const Place& place : places_) {
            place.node->span = place.span;
        }
    }

    void add(ir::Graph& graph, const ir::Function* function, uint32_t outer = kNone) {
        for (ir::Node& node : graph) {
            stop_point();
            uint32_t number = static_cast<uint32_t>(places_.size());
            places_.push_back({&node, function, outer, node.span});
            node.span = {file_, number, number};
            for (const ir::Attribute& attribute : node.attributes) {
                if (ir::Graph* const* subgraph = attribute.get<ir::Graph*>()) {
                    add(**subgraph, function, number);
                } else if (auto* subgraphs = attribute.get<std::vector<ir::Graph*>>()) {
                    for (ir::Graph* each : *subgraphs) {
                        add(*each, function, number);
                    }
                }
            }
        }
    }

    // "node `add1` (`Add`) in node `loop` (`Loop`)"; empty for a span of no node.
    std::string place(diagnostics::Span span) const {
        if (span.file != file_ || span.begin >= places_.size()) {
            return {};
        }
        const Place* at = &places_[span.begin];
        std::string text = ir::describe(*at->node);
        for (; at->outer != kNone; at = &places_[at->outer]) {
            text += " in " + ir::describe(*places_[at->outer].node);
        }
        return at->function == nullptr ? text : fmt::format("{} of `{}`", text, at->function->name);
    }

    // Operators that their standard has taken back: readers of files refuse them.
    std::vector<ModelFinding> deprecated(const ir::Model& model,
                                         const ops::SchemaSet* schemas) const {
        std::vector<ModelFinding> findings;
        for (const Place& place : places_) {
            const ir::Node& node = *place.node;
            const auto& imports =
                place.function != nullptr ? place.function->opset_imports : model.opset_imports;
            int64_t version = ir::opset_version(imports, node.domain);
            const ops::Schema* schema =
                ops::find_schema(schemas, node.domain, node.op_type, version);
            if (schema == nullptr || !schema->is_deprecated ||
                model.find_function(node.domain, node.op_type, node.overload) != nullptr) {
                continue;
            }
            findings.push_back(
                {&elaborate::kDeprecatedOperator,
                 fmt::format("{}: `{}` is deprecated since opset {}, and the opset here is {}",
                             this->place(node.span), node.op_type, schema->since_version, version),
                 "use the operator that has replaced it, or import an older opset"});
        }
        return findings;
    }

  private:
    static constexpr uint32_t kNone = UINT32_MAX;

    struct Place {
        ir::Node* node;
        const ir::Function* function;  // null: of the main graph
        uint32_t outer;                // the node whose subgraph it stands in
        diagnostics::Span span;        // that it had
    };

    diagnostics::FileId file_;
    std::vector<Place> places_;
};

constexpr const char* kWriteAgain =
    "write the file again, with a newer version of what has written it";

void report_invalid(elaborate::Program& program, diagnostics::Span whole, std::string problem) {
    program.diagnostics.report(kInvalidModel, whole, std::move(problem)).with_help(kWriteAgain);
}

// A path that cannot be read, a file that is no model by its name, or bytes that are no model.
void report_unread(elaborate::Program& program, const std::string& path, diagnostics::Span whole,
                   std::string problem) {
    std::error_code failed;
    if (::access(path.c_str(), R_OK) != 0 || std::filesystem::is_directory(path, failed)) {
        program.diagnostics.report(elaborate::kUnreadableFile, {}, std::move(problem))
            .with_help("check the path, and that you may read the file");
        return;
    }
    std::filesystem::path suffix = std::filesystem::path(path).extension();
    if (suffix == ".onnx" || suffix == ".pb" || proto::form_of_path(path) != proto::Form::kBytes) {
        report_invalid(program, whole, std::move(problem));
        return;
    }
    program.diagnostics
        .report(kInvalidModel, whole,
                fmt::format("`{}` is neither a script, whose name ends in `.py`, nor a model: {}",
                            path, problem))
        .with_help("rename the file if it is a script");
}

// What a model must have that nothing of ours needs, and others refuse to read it without.
class FormalDuties {
  public:
    explicit FormalDuties(const ir::Model& model) : model_(model) {}

    std::vector<std::string> breaches() {
        const ir::Graph& graph = *model_.graph;
        check_graph(graph);
        constexpr int64_t kOwnInitializers = 4;
        for (const ir::Value* value : graph.initializers) {
            if (model_.ir_version < kOwnInitializers && !value->is_graph_input()) {
                breaches_.push_back(
                    fmt::format("initializer `{}` is not an input, as IR version "
                                "{} wants it",
                                value->name, model_.ir_version));
            }
        }
        for (const ir::Value* input : graph.inputs) {
            bool is_typed =
                !input->type.is_tensor() || input->type.element_type() != ElementType::kUndefined;
            if (input->has_uses() && !is_typed) {
                breaches_.push_back(fmt::format("input `{}` has no element type", input->name));
            }
        }
        check_types("input", graph.inputs);
        check_types("output", graph.outputs);
        return std::move(breaches_);
    }

  private:
    void check_types(std::string_view which, std::span<const ir::Value* const> values) {
        for (const ir::Value* value : values) {
            if (!value->type.is_known()) {
                breaches_.push_back(fmt::format("{} `{}` has no type", which, value->name));
            }
        }
    }

    void check_graph(const ir::Graph& graph) {
        if (graph.name.empty()) {
            const char* which = &graph == model_.graph ? "the graph" : "a graph of a node";
            breaches_.push_back(fmt::format("{} has no name", which));
        }
        for (const ir::Value* output : graph.outputs) {
            if (output->graph() != &graph) {
                breaches_.push_back(
                    fmt::format("output `{}` of the graph `{}` of a node is a "
                                "value of a graph around it",
                                output->name, graph.name));
            }
        }
        for (const ir::Node& node : graph) {
            stop_point();
            for (const ir::Attribute& attribute : node.attributes) {
                if (ir::Graph* const* subgraph = attribute.get<ir::Graph*>()) {
                    check_graph(**subgraph);
                }
            }
        }
    }

    const ir::Model& model_;
    std::vector<std::string> breaches_;
};

std::vector<ModelFinding> infer_types(ir::Model& model, const ops::SchemaSet* schemas) {
    Nodes nodes(diagnostics::FileId{0});
    for (ir::Function* function : model.functions) {
        nodes.add(*function->body, function);
    }
    if (model.graph != nullptr) {
        nodes.add(*model.graph, nullptr);
    }
    std::vector<ModelFinding> findings = nodes.deprecated(model, schemas);
    for (const ir::Function* function : model.functions) {
        if (const ir::Node* node = infer::incompatible_node(model, *function)) {
            findings.push_back(
                {&elaborate::kOpsetConflict,
                 fmt::format("{}: it is of opset {} of its domain, and of another one in "
                             "opset {}, which the model imports",
                             nodes.place(node->span),
                             ir::opset_version(function->opset_imports, node->domain),
                             ir::opset_version(model.opset_imports, node->domain)),
                 "import one version of the domain everywhere"});
        }
    }
    for (infer::Finding& finding : infer::infer_model(model, schemas)) {
        std::string place = nodes.place(finding.span);
        findings.push_back({finding.kind,
                            place.empty() ? std::move(finding.message)
                                          : fmt::format("{}: {}", place, finding.message),
                            std::move(finding.help)});
    }
    return findings;
}

void report(elaborate::Program& program, diagnostics::Span whole,
            std::vector<ModelFinding> findings) {
    for (ModelFinding& finding : findings) {
        program.diagnostics.report(*finding.kind, whole, std::move(finding.message))
            .with_help(std::move(finding.help));
    }
}

}  // namespace

std::vector<ModelFinding> infer_model(ir::Model& model, const ops::SchemaSet* schemas) {
    return infer_types(model, schemas);
}

std::vector<ModelFinding> check_model(ir::Model& model, const ops::SchemaSet* schemas) {
    std::vector<ModelFinding> findings;
    auto add = [&](std::string problem) {
        findings.push_back({&kInvalidModel, std::move(problem), kWriteAgain});
    };
    std::vector<std::string> problems = ir::verify(model);
    std::for_each(problems.begin(), problems.end(), add);
    if (!findings.empty()) {
        return findings;  // inference relies on the structure
    }
    if (model.graph != nullptr) {
        std::vector<std::string> breaches = FormalDuties(model).breaches();
        std::for_each(breaches.begin(), breaches.end(), add);
    }
    std::vector<ModelFinding> types = infer_types(model, schemas);
    std::move(types.begin(), types.end(), std::back_inserter(findings));
    return findings;
}

void check_model(elaborate::Program& program, const std::string& path,
                 const ops::SchemaSet* schemas) {
    diagnostics::FileId file = program.sources.add(path, {});
    diagnostics::Span whole{file, 0, 0};
    FileStamps files;
    std::vector<std::string> breaches;
    Result<std::unique_ptr<ir::Model>> model =
        proto::read_model_file(path, {.stamps = &files, .breaches = &breaches});
    if (!model.ok()) {
        report_unread(program, path, whole, model.error().message);
        return;
    }
    MappedReading reading(files);
    for (std::string& breach : breaches) {
        report_invalid(program, whole, std::move(breach));
    }
    report(program, whole, check_model(**model, schemas));
    if (Result<void> unchanged = check_unchanged(files); !unchanged.ok()) {
        report_invalid(program, whole, unchanged.error().message);
    }
}

}  // namespace sardonyx::driver
