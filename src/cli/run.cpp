// sardonyx run: a script or a model on given inputs.
//
// A script is compiled twice when its annotations leave sizes or types open: first to learn what
// its inputs are, then with the types of the given values, so that everything static is known.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/compilation.h"
#include "cli/inputs.h"
#include "cli/observers.h"
#include "cli/outputs.h"
#include "cli/terminal.h"
#include "eval/eval.h"
#include "eval/plan/dump.h"
#include "proto/proto.h"

namespace sardonyx::cli {
namespace {

using eval::RuntimeValue;
using NamedValues = std::vector<std::pair<std::string_view, RuntimeValue>>;

const ir::Value* find_input(const ir::Graph& graph, std::string_view name) {
    auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                              [&](const ir::Value* input) { return input->name == name; });
    return found == graph.inputs.end() ? nullptr : *found;
}

Error unknown_input(const ir::Graph& graph, const std::string& name) {
    std::vector<std::string_view> names;
    std::string list;
    for (const ir::Value* input : graph.inputs) {
        names.push_back(input->name);
        list += fmt::format("{}`{}` ({})", list.empty() ? "" : ", ", input->name,
                            input->type.to_string());
    }
    std::string_view near = nearest(name, names);
    std::string advice = !near.empty()  ? fmt::format("did you mean `{}`?", near)
                         : list.empty() ? std::string("there are none")
                                        : "the inputs are " + list;
    return Error{fmt::format("there is no input `{}`; {}", name, advice)};
}

Error missing_inputs(const std::vector<const ir::Value*>& missing) {
    std::string list;
    for (const ir::Value* input : missing) {
        list += fmt::format("{}`{}` ({})", list.empty() ? "" : ", ", input->name,
                            input->type.to_string());
    }
    return Error{fmt::format("no value for {}; write `{}=...`, or `--random` for random numbers",
                             list, missing[0]->name)};
}

// The values of the inputs that are given, and of those that --random stands for.
Result<NamedValues> read_inputs(const ir::Graph& graph, const RunOptions& options) {
    NamedValues values;
    for (const auto& [name, text] : options.inputs) {
        const ir::Value* input = find_input(graph, name);
        if (input == nullptr) {
            return unknown_input(graph, name);
        }
        Result<RuntimeValue> value = read_input(name, text, input->type, options.seed);
        SDX_TRY(value);
        values.emplace_back(input->name, std::move(*value));
    }
    std::vector<const ir::Value*> missing;
    for (const ir::Value* input : graph.inputs) {
        bool is_given = std::any_of(values.begin(), values.end(),
                                    [&](const auto& value) { return value.first == input->name; });
        bool may_lack = input->constant.has_value() || input->type.kind() == TypeKind::kOptional;
        if (is_given || may_lack) {
            continue;
        }
        if (!options.random) {
            missing.push_back(input);
            continue;
        }
        Result<RuntimeValue> value =
            random_input(std::string(input->name), input->type, options.seed);
        SDX_TRY(value);
        values.emplace_back(input->name, std::move(*value));
    }
    if (!missing.empty()) {
        return missing_inputs(missing);
    }
    return values;
}

bool is_fully_known(const Type& type) {
    return !type.is_tensor() ||
           (type.element_type() != ElementType::kUndefined && type.has_shape() &&
            std::all_of(type.shape().begin(), type.shape().end(),
                        [](const Dim& dim) { return dim.is_static(); }));
}

// The types of the given values for the inputs whose types are open. Error: a value contradicts
// what the script says of it.
Result<std::vector<std::pair<std::string, Type>>> types_of(const ir::Graph& graph,
                                                           const NamedValues& values) {
    std::vector<std::pair<std::string, Type>> types;
    for (const auto& [name, value] : values) {
        const Type& declared = find_input(graph, name)->type;
        if (!value.is_tensor() || (declared.is_known() && is_fully_known(declared))) {
            continue;
        }
        if (!merge(declared, value.tensor().type())) {
            return Error{fmt::format("input `{}` is {}, but the script says {}", name,
                                     value.describe(), declared.to_string())};
        }
        types.emplace_back(name, value.tensor().type());
    }
    return types;
}

// --- Execution -----------------------------------------------------------------------------------

int fail(const Error& error) {
    print_error(error.message);
    return kFailure;
}

int compare_with_peer(const ir::Model& model, const NamedValues& values,
                      const eval::RunOptions& run, Comparison comparison,
                      const RunOptions& options) {
    comparison.peer = options.compare;
    Result<bool> agrees = compare(model, values, run, comparison);
    if (!agrees.ok()) {
        return fail(agrees.error());
    }
    return *agrees ? kSuccess : kFailure;
}

// Runs the model, which `path` or, where that is empty, a script of `sources` holds.
int execute(const ir::Model& model, const NamedValues& values, const RunOptions& options,
            const std::string& path, const diagnostics::Sources* sources,
            const FileStamps& files = {}) {
    eval::RunOptions run;
    run.seed = options.seed;
    run.threads = options.threads;
    run.max_steps = options.max_steps;
    std::optional<MappedReading> reading(files);
    if (!options.compare.empty()) {
        int status = compare_with_peer(model, values, run, {{}, path, sources}, options);
        reading.reset();
        Result<void> unchanged = check_unchanged(files);
        return unchanged.ok() ? status : fail(unchanged.error());
    }
    Result<std::shared_ptr<const eval::Plan>> plan = eval::prepare(model);
    if (!plan.ok()) {
        return fail(plan.error());
    }
    if (options.plan) {
        print(eval::dump(**plan));
    }
    Observers observers(sources);
    Trace trace(sources);
    int64_t node_count = 0;
    for ([[maybe_unused]] const ir::Node& node : *model.graph) {
        ++node_count;
    }
    Progress progress(node_count);
    if (options.trace) {
        observers.add(&trace);
    }
    observers.add(&progress);
    Result<std::vector<RuntimeValue>> results = eval::run(**plan, values, run, &observers);
    progress.finish();
    reading.reset();
    if (Result<void> unchanged = check_unchanged(files); !unchanged.ok()) {
        return fail(unchanged.error());
    }
    if (!results.ok()) {
        const std::string& place = observers.failed_at();
        return fail(place.empty() ? results.error()
                                  : Error{fmt::format("{}: {}", place, results.error().message)});
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < results->size(); ++i) {
        names.emplace_back(model.graph->outputs[i]->name);
        print(result_text(names[i], (*results)[i]));
    }
    if (!options.folder.empty()) {
        Result<void> written = write_results(options.folder, names, *results);
        if (!written.ok()) {
            return fail(written.error());
        }
    }
    return kSuccess;
}

int run_file(const RunOptions& options) {
    if (!options.texts.attributes.empty() || options.texts.opset != 0 ||
        !options.target.name.empty()) {
        print_error(
            "`:NAME`, `--attribute` and `--opset` are for scripts, whose names end in `.py`");
        return kUsage;
    }
    FileStamps files;
    Result<std::unique_ptr<ir::Model>> model = proto::read_model_file(options.target.path, &files);
    if (!model.ok()) {
        return fail(model.error());
    }
    if ((*model)->graph == nullptr) {
        return fail(Error{fmt::format("`{}` has no graph to run", options.target.path)});
    }
    Result<NamedValues> values = read_inputs(*(*model)->graph, options);
    return values.ok() ? execute(**model, *values, options, options.target.path, nullptr, files)
                       : fail(values.error());
}

int run_script(const RunOptions& options) {
    std::optional<driver::Request> request =
        request_of(options.target, options.texts, options.schemas);
    if (!request) {
        return kUsage;
    }
    driver::Compilation compiled = driver::compile(*request);
    if (compiled.model == nullptr) {
        print_findings(compiled.sources(), compiled.findings());
        return failure_of(compiled);
    }
    Result<NamedValues> values = read_inputs(*compiled.model->graph, options);
    if (!values.ok()) {
        return fail(values.error());
    }
    auto types = types_of(*compiled.model->graph, *values);
    if (!types.ok()) {
        return fail(types.error());
    }
    std::unique_ptr<ir::Model> open;  // the first model: its texts name the values
    if (!types->empty()) {
        request->options.input_types = std::move(*types);
        open = driver::compile_again(compiled, std::move(request->options));
    }
    print_findings(compiled.sources(), compiled.findings());
    return compiled.has_failed()
               ? kFailure
               : execute(*compiled.model, *values, options, {}, &compiled.sources());
}

}  // namespace

int run_run(const RunOptions& options) {
    return options.target.is_script() ? run_script(options) : run_file(options);
}

}  // namespace sardonyx::cli
