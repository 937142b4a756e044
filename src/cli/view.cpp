// sardonyx view: a picture of a graph.
#include <fmt/format.h>

#include <filesystem>
#include <optional>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/terminal.h"
#include "infer/infer.h"
#include "proto/proto.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::cli {
namespace {

// What is shown, or why there is nothing.
struct Sight {
    std::optional<view::Scene> scene;
    int status = kFailure;
};

std::string file_name(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

Sight scene_of(Result<view::Scene> scene) {
    if (!scene.ok()) {
        print_error(scene.error().message);
        return {};
    }
    return {std::move(*scene), kSuccess};
}

Sight see_model(const std::string& path) {
    FileStamps files;
    Result<std::unique_ptr<ir::Model>> model = proto::read_model_file(path, &files);
    if (!model.ok()) {
        print_error(model.error().message);
        return {};
    }
    std::optional<MappedReading> reading(files);
    (void)infer::infer_model(**model);
    Result<view::Scene> scene = view::make_scene(**model, nullptr, file_name(path));
    reading.reset();
    if (Result<void> unchanged = check_unchanged(files); !unchanged.ok()) {
        return scene_of(unchanged.error());
    }
    return scene_of(std::move(scene));
}

Sight see_script(const ViewOptions& options) {
    std::optional<driver::Request> request =
        request_of(options.target, options.texts, options.schemas);
    if (!request) {
        return {std::nullopt, kUsage};
    }
    request->form = driver::Form::kAsAnnotated;
    driver::Compilation compiled = driver::compile(*request);
    print_findings(compiled.sources(), compiled.findings());
    if (compiled.has_failed()) {
        return {std::nullopt, failure_of(compiled)};
    }
    return scene_of(
        view::make_scene(*compiled.model, &compiled.sources(),
                         fmt::format("{}:{}", file_name(request->path), compiled.script->name)));
}

// Writes it, or prints why not.
bool write_text(const std::string& path, const std::string& text) {
    if (path == "-") {
        print(text);
        return true;
    }
    Result<void> written = write_file(path, text);
    if (!written.ok()) {
        print_error(written.error().message);
    }
    return written.ok();
}

}  // namespace

std::string_view complaint(const ViewOptions& options) {
    if (options.svg.empty() && options.json.empty()) {
        return "nothing to write: name a file with `--svg` or `--json`";
    }
    return options.svg == "-" && options.json == "-"
               ? "standard output takes one of `--svg` and `--json`"
               : std::string_view();
}

int run_view(const ViewOptions& options) {
    if (std::string_view words = complaint(options); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    Sight sight = options.target.is_script() ? see_script(options) : see_model(options.target.path);
    if (!sight.scene) {
        return sight.status;
    }
    if (!options.svg.empty()) {
        view::lay_out(*sight.scene, true);
        if (!write_text(options.svg, view::to_svg(*sight.scene))) {
            return kFailure;
        }
    }
    if (!options.json.empty()) {
        view::lay_out(*sight.scene, false);
        if (!write_text(options.json, view::to_json(*sight.scene) + "\n")) {
            return kFailure;
        }
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
