// sardonyx diff: in what two models differ.
#include "models/diff.h"

#include <fmt/format.h>

#include <optional>

#include "base/file.h"
#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/model_file.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"

namespace sardonyx::cli {
namespace {

// One side: the model, and what keeps it.
struct Side {
    ModelFile file;
    std::string title;
};

std::optional<Side> read_side(const Target& target) {
    Side side;
    side.title = target.name.empty() ? target.path : target.path + ":" + target.name;
    if (target.is_script()) {
        std::optional<driver::Request> request = request_of(target, {}, {});
        if (!request) {
            return std::nullopt;
        }
        driver::Compilation compiled = driver::compile(*request);
        if (compiled.has_failed()) {
            print_findings(compiled.sources(), compiled.findings());
            (void)failure_of(compiled);
            return std::nullopt;
        }
        side.file.model = std::move(compiled.model);
        return side;
    }
    Result<ModelFile> file = load_model(target.path);
    if (!file.ok()) {
        print_error(file.error().message);
        return std::nullopt;
    }
    side.file = std::move(*file);
    return side;
}

Result<void> show_diff(const models::ModelDiff& found, const DiffOptions& options,
                       const Side& first, const Side& second) {
    if (!options.html.empty()) {
        std::string page = models::diff_html(found, first.title, second.title);
        if (options.html == kStream) {
            print(page);
            return {};
        }
        SDX_TRY(write_file(options.html, page));
    }
    if (options.json) {
        print(models::diff_json(found));
    } else if (options.html.empty() && !options.quiet) {
        print(models::diff_text(found, first.title, second.title));
    }
    return {};
}

}  // namespace

int run_diff(const DiffOptions& options) {
    Result<void> kept = keep_inputs({options.first.path, options.second.path}, {options.html});
    if (!kept.ok()) {
        print_error(kept.error().message);
        return kUsage;
    }
    std::optional<Side> first = read_side(options.first);
    std::optional<Side> second = first ? read_side(options.second) : std::nullopt;
    if (!second) {
        return kUsage;
    }
    FileStamps stamps = first->file.stamps;
    stamps.insert(stamps.end(), second->file.stamps.begin(), second->file.stamps.end());
    std::optional<MappedReading> reading(stamps);
    models::ModelDiff found =
        models::diff(*first->file.model, *second->file.model, {options.names});
    reading.reset();
    Result<void> done = check_unchanged(stamps);
    if (done.ok()) {
        done = show_diff(found, options, *first, *second);
    }
    if (!done.ok()) {
        print_error(done.error().message);
        return kUsage;
    }
    if (has_lost_output()) {
        return kUsage;  // kFailure says that they differ
    }
    return found.changes.empty() ? kSuccess : kFailure;
}

}  // namespace sardonyx::cli
