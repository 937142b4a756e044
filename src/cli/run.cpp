// sardonyx run: a script or a model on given inputs.
#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compare.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/observers.h"
#include "cli/outputs.h"
#include "cli/overwriting.h"
#include "cli/plan_text.h"
#include "cli/run_inputs.h"
#include "cli/terminal.h"
#include "cli/testcase.h"
#include "eval/eval.h"
#include "ir/graph_walk.h"

namespace sardonyx::cli {
namespace {

using eval::RuntimeValue;

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
        if (Result<void> kept = keep_inputs(options.files, {options.output}); !kept.ok()) {
            return fail(kept.error());
        }
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
    Result<ModelFile> file = load_model(options.target.path);
    if (!file.ok()) {
        return fail(file.error());
    }
    const ir::Model& model = *file->model;
    if (model.graph == nullptr) {
        return fail(Error{fmt::format("`{}` has no graph to run", options.target.path)});
    }
    Result<NamedValues> values = read_inputs(*model.graph, options);
    std::string path = options.target.is_stdin() ? std::string() : options.target.path;
    return values.ok() ? execute(model, *values, options, path, nullptr, file->stamps)
                       : fail(values.error());
}

int run_script(const RunOptions& options) {
    std::optional<driver::Request> request =
        request_of(options.target, options.texts, options.schemas);
    if (!request) {
        return kUsage;
    }
    ScriptRun ready = prepare_script(*request, options);
    return ready.status != kSuccess ? ready.status
                                    : execute(*ready.compiled.model, ready.values, options, {},
                                              &ready.compiled.sources());
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
