// sardonyx run: a script or a model on given inputs.
//
// A script is compiled twice when its annotations leave sizes or types open: first to learn what
// its inputs are, then with the types of the given values, so that everything static is known.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/compilation.h"
#include "cli/inputs.h"
#include "cli/observers.h"
#include "cli/outputs.h"
#include "cli/plan_text.h"
#include "cli/terminal.h"
#include "cli/testcase.h"
#include "eval/eval.h"
#include "ir/graph_walk.h"
#include "proto/proto.h"
#include "types/numpy_names.h"

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

// The sizes of --dim. Error: no number, or a name that no input has.
Result<RandomOptions> read_random(const ir::Graph& graph, const RunOptions& options) {
    RandomOptions random{options.seed, {}};
    std::set<std::string> names;
    for (const ir::Value* input : graph.inputs) {
        for (const Dim& dim : input->type.has_shape() ? input->type.shape() : Shape()) {
            (void)dim.substitute([&names](std::string_view name) {
                names.emplace(name);
                return Dim::symbol(name);
            });
        }
    }
    for (const auto& [name, text] : options.sizes) {
        int64_t size = -1;
        auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), size);
        if (failed != std::errc() || end != text.data() + text.size() || size < 0) {
            return Error{
                fmt::format("`--dim {}={}`: a size is an integer of 0 or more", name, text)};
        }
        if (names.count(name) == 0) {
            std::string list;
            for (const std::string& one : names) {
                list += fmt::format("{}`{}`", list.empty() ? "" : ", ", one);
            }
            return Error{fmt::format("no input has a dimension `{}`; {}", name,
                                     list.empty() ? "none has a name" : "there are " + list)};
        }
        random.sizes.emplace_back(name, size);
    }
    return random;
}

// Those of files of several inputs.
Result<void> add_files(const ir::Graph& graph, const RunOptions& options, NamedValues& values) {
    auto type_of = [&graph](std::string_view name) {
        const ir::Value* input = find_input(graph, name);
        return input == nullptr ? std::nullopt : std::optional<Type>(input->type);
    };
    for (const std::string& path : options.files) {
        auto read = read_input_file(path, type_of);
        SDX_TRY(read);
        for (auto& [name, value] : *read) {
            const ir::Value* input = find_input(graph, name);
            if (input == nullptr) {
                return Error{fmt::format("`{}`: {}", path, unknown_input(graph, name).message)};
            }
            bool is_twice = std::any_of(values.begin(), values.end(),
                                        [&](const auto& one) { return one.first == input->name; });
            if (is_twice) {
                return Error{fmt::format("`{}`: `{}` is given twice", path, name)};
            }
            values.emplace_back(input->name, std::move(value));
        }
    }
    return {};
}

// The values of the inputs that are given, and of those that --random stands for.
Result<NamedValues> read_inputs(const ir::Graph& graph, const RunOptions& options) {
    NamedValues values;
    Result<RandomOptions> random = read_random(graph, options);
    SDX_TRY(random);
    for (const auto& [name, text] : options.inputs) {
        const ir::Value* input = find_input(graph, name);
        if (input == nullptr) {
            return unknown_input(graph, name);
        }
        Result<RuntimeValue> value = read_input(name, text, input->type, *random);
        SDX_TRY(value);
        values.emplace_back(input->name, std::move(*value));
    }
    SDX_TRY(add_files(graph, options, values));
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
        Result<RuntimeValue> value = random_input(std::string(input->name), input->type, *random);
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
            return Error{fmt::format(
                "input `{}` is {}, but the script says {}{}", name, value.describe(),
                declared.to_string(),
                conversion_help(name, value.tensor().element_type(), declared.element_type()))};
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
    comparison.absolute = options.absolute;
    comparison.relative = options.relative;
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
        int status = compare_with_peer(model, values, run, {{}, path, sources, {}, {}}, options);
        reading.reset();
        Result<void> unchanged = check_unchanged(files);
        return unchanged.ok() ? status : fail(unchanged.error());
    }
    Result<std::shared_ptr<const eval::Plan>> plan = eval::prepare(model);
    if (!plan.ok()) {
        return fail(plan.error());
    }
    if (options.plan) {
        Result<std::string> text = plan_text(model);
        if (!text.ok()) {
            return fail(text.error());
        }
        print(*text);
    }
    Observers observers(sources);
    Trace trace(sources);
    Progress progress(static_cast<int64_t>(ir::node_count(*model.graph)));
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
    if (!options.testcase.empty()) {
        Result<std::string> summary = write_testcase(options.testcase, model, values, *results);
        if (!summary.ok()) {
            return fail(summary.error());
        }
        print(options.quiet ? std::string() : *summary);
        return kSuccess;
    }
    std::vector<std::string> names;
    for (size_t i = 0; i < results->size(); ++i) {
        names.emplace_back(model.graph->outputs[i]->name);
        if (!options.json) {
            print(result_text(names[i], (*results)[i]));
        }
    }
    if (options.json) {
        print(results_json(names, *results));
    }
    if (!options.output.empty()) {
        Result<void> written = write_results(options.output, names, *results);
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

// Mistakes that values of the inputs would not settle.
bool has_own_mistakes(const diagnostics::Diagnostics& findings) {
    return std::any_of(findings.items().begin(), findings.items().end(),
                       [](const diagnostics::Diagnostic& one) {
                           return one.kind->severity == diagnostics::Severity::kError &&
                                  one.kind->code != "missing-input-type";
                       });
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
        if (has_own_mistakes(compiled.findings())) {
            print_findings(compiled.sources(), compiled.findings());
            return kFailure;
        }
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
    bool prints_more = options.plan || options.trace || !options.compare.empty();
    if (options.json && prints_more) {
        print_error(
            "`--json` prints only the results: use it without `--plan`, `--trace` and "
            "`--compare`");
        return kUsage;
    }
    if (options.compare.empty() && (options.absolute || options.relative)) {
        print_error("`--atol` and `--rtol` are for `--compare`");
        return kUsage;
    }
    return options.target.is_script() ? run_script(options) : run_file(options);
}

}  // namespace sardonyx::cli
