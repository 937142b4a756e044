// Each model is read or compiled, run where values are wanted, and noted; then two are compared.
#include "cli/view_scene.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/run_inputs.h"
#include "cli/terminal.h"
#include "cli/view_notes.h"
#include "ide/graph.h"
#include "infer/infer.h"
#include "models/diff.h"
#include "models/outline.h"
#include "view/beside.h"

namespace sardonyx::cli {
namespace {

// A model that is shown, and what keeps it.
struct Shown {
    ScriptRun script;  // of a script
    std::unique_ptr<ir::Model> own;
    FileStamps files;
    std::string title;
    view::Notes notes;
    int status = kFailure;

    // Null: there is nothing to show.
    ir::Model* model() const { return own != nullptr ? own.get() : script.compiled.model.get(); }
    const diagnostics::Sources* sources() const {
        return own != nullptr ? nullptr : &script.compiled.sources();
    }
};

std::string base_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

void run(Shown& shown, const NamedValues& values, const InputOptions& options) {
    bool is_done = note_run(*shown.model(), values, options, shown.sources(), shown.notes);
    shown.status = is_done ? kSuccess : kFailure;
}

void read_model(Shown& shown, const Target& target, const ViewOptions& options) {
    shown.title = target.is_stdin() ? "standard input" : base_name(target.path);
    Result<ModelFile> file = load_model(target.path);
    if (!file.ok()) {
        print_error(file.error().message);
        return;
    }
    ir::Model& model = *file->model;
    shown.files = file->stamps;
    if (options.outline) {
        (void)models::outline(model);
    }
    std::optional<MappedReading> reading(shown.files);
    (void)infer::infer_model(model);
    if (options.has_run()) {
        if (model.graph == nullptr) {
            print_error(fmt::format("`{}` has no graph to run", target.path));
            return;
        }
        Result<NamedValues> values = read_inputs(*model.graph, options.given);
        if (!values.ok()) {
            print_error(values.error().message);
            return;
        }
        shown.own = std::move(file->model);
        run(shown, *values, options.given);
    } else {
        shown.own = std::move(file->model);
        shown.status = kSuccess;
    }
}

void compile_script(Shown& shown, const Target& target, const ViewOptions& options) {
    std::optional<driver::Request> request = request_of(target, options.texts, options.schemas);
    if (!request) {
        shown.status = kUsage;
        return;
    }
    if (options.has_run()) {
        ScriptRun ready = prepare_script(*request, options.given);
        if (ready.status != kSuccess) {
            shown.status = ready.status;
            return;
        }
        shown.script = std::move(ready);
    } else {
        request->form = driver::Form::kAsAnnotated;
        driver::Compilation compiled = driver::compile(*request);
        print_findings(compiled.sources(), compiled.findings());
        if (compiled.has_failed()) {
            shown.status = failure_of(compiled);
            return;
        }
        shown.script.compiled = std::move(compiled);
    }
    shown.title = ide::title_of_script(shown.script.compiled);
    if (options.outline) {
        (void)models::outline(*shown.model());
    }
    shown.status = kSuccess;
    if (options.has_run()) {
        run(shown, shown.script.values, options.given);
    }
}

Shown read(const Target& target, const ViewOptions& options) {
    Shown shown;
    target.is_script() ? compile_script(shown, target, options)
                       : read_model(shown, target, options);
    return shown;
}

Result<view::Scene> scene_of(Shown& shown, const ViewOptions& options) {
    std::optional<MappedReading> reading(shown.files);
    if (!options.html.empty() || !options.json.empty() || options.svg.empty()) {
        note_weights(*shown.model(), shown.notes);  // which pictures do not show
    }
    Result<view::Scene> scene =
        view::make_scene(*shown.model(), shown.sources(), shown.title, &shown.notes);
    reading.reset();
    SDX_TRY(check_unchanged(shown.files));
    return scene;
}

view::Mark mark_of(models::DiffLine::Mark mark) {
    constexpr view::Mark kMarks[] = {view::Mark::kNone, view::Mark::kAdded, view::Mark::kRemoved,
                                     view::Mark::kChanged};
    return kMarks[static_cast<size_t>(mark)];
}

// Notes the difference on both, and says it.
Result<std::vector<view::Change>> compare(Shown& first, Shown& second) {
    std::optional<MappedReading> reading_first(first.files), reading_second(second.files);
    models::ModelDiff found = models::diff(*first.model(), *second.model(), {});
    uint32_t pair = 0;
    for (const models::DiffGraph& graph : found.graphs) {
        for (const models::DiffLine& line : graph.lines) {
            bool is_pair = line.first != nullptr && line.second != nullptr;
            for (auto [node, shown] : {std::pair(line.first, &first), {line.second, &second}}) {
                if (node != nullptr) {
                    view::NodeNote& note = shown->notes.nodes[node];
                    note.mark = mark_of(line.mark);
                    note.pair = is_pair ? pair : note.pair;
                }
            }
            pair += is_pair ? 1 : 0;
        }
    }
    reading_first.reset();
    reading_second.reset();
    SDX_TRY(check_unchanged(first.files));
    SDX_TRY(check_unchanged(second.files));
    std::vector<view::Change> changes;
    for (models::Change& one : found.changes) {
        changes.push_back({std::string(models::name(one.kind)), std::move(one.graph),
                           std::move(one.what), std::move(one.before), std::move(one.after)});
    }
    return changes;
}

Result<view::Scene> scene_of_both(Shown& first, Shown& second, const ViewOptions& options) {
    Result<std::vector<view::Change>> changes = compare(first, second);
    SDX_TRY(changes);
    Result<view::Scene> scene = scene_of(first, options), other = scene_of(second, options);
    SDX_TRY(scene);
    SDX_TRY(other);
    view::put_beside(*scene, std::move(*other), std::move(*changes));
    return scene;
}

Sight sight_of(Result<view::Scene> scene, int status) {
    if (!scene.ok()) {
        print_error(scene.error().message);
        return {};
    }
    return {std::move(*scene), status};
}

}  // namespace

Sight see(const ViewOptions& options) {
    Shown first = read(options.target, options);
    if (first.model() == nullptr) {
        return {std::nullopt, first.status};
    }
    if (!options.other) {
        return sight_of(scene_of(first, options), first.status);
    }
    Shown second = read(*options.other, options);
    if (second.model() == nullptr) {
        return {std::nullopt, second.status};
    }
    int status = first.status != kSuccess ? first.status : second.status;
    return sight_of(scene_of_both(first, second, options), status);
}

}  // namespace sardonyx::cli
