// sardonyx view: a picture of a graph.
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/compilation.h"
#include "cli/terminal.h"
#include "cli/view_server.h"
#include "ide/graph.h"
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
    return scene_of(ide::scene_of_script(compiled));
}

Sight see(const ViewOptions& options) {
    return options.target.is_script() ? see_script(options) : see_model(options.target.path);
}

struct Output {
    const std::string* path;  // empty: not wanted
    bool opens;               // subgraphs are laid out inside of their nodes
    std::string (*write)(const view::Scene& scene);
};

int write_outputs(view::Scene& scene, std::span<const Output> outputs) {
    for (const Output& output : outputs) {
        if (output.path->empty()) {
            continue;
        }
        view::lay_out(scene, output.opens);
        std::string text = output.write(scene);
        Result<void> written;
        *output.path == "-" ? print(text) : void(written = write_file(*output.path, text));
        if (!written.ok()) {
            print_error(written.error().message);
            return kFailure;
        }
    }
    return kSuccess;
}

int serve(const ViewOptions& options) {
    Sight first = see(options);  // what is wrong with the file is said before anything is served
    if (!first.scene) {
        return first.status;
    }
    auto page = [&]() -> Result<std::string> {
        Sight sight = first.scene ? std::exchange(first, Sight{}) : see(options);
        if (!sight.scene) {
            return Error{"there is nothing to show: the terminal says why; mend it and reload"};
        }
        view::lay_out(*sight.scene, false);
        return view::to_html(*sight.scene);
    };
    Result<void> served = serve_page(page, options.port);
    print_error(served.ok() ? "the server has ended" : served.error().message);
    return kFailure;
}

bool is_file_output(const ViewOptions& options) {
    return !options.html.empty() || !options.svg.empty() || !options.json.empty();
}

}  // namespace

std::string_view complaint(const ViewOptions& options) {
    int streams = (options.html == "-") + (options.svg == "-") + (options.json == "-");
    if (streams > 1) {
        return "standard output takes one of `--html`, `--svg` and `--json`";
    }
    if (is_file_output(options) && options.port != 0) {
        return "`--port` is for the page that is served: use it without `--html`, `--svg` and "
               "`--json`";
    }
    return options.target.is_stdin() && !is_file_output(options)
               ? "standard input cannot be read again: write the page with `--html`"
               : std::string_view();
}

int run_view(const ViewOptions& options) {
    if (std::string_view words = complaint(options); !words.empty()) {
        print_error(words);
        return kUsage;
    }
    if (!is_file_output(options)) {
        return serve(options);
    }
    Sight sight = see(options);
    if (!sight.scene) {
        return sight.status;
    }
    const Output outputs[] = {
        {&options.html, false, view::to_html},
        {&options.svg, true, view::to_svg},
        {&options.json, false,
         [](const view::Scene& scene) { return view::to_json(scene) + "\n"; }},
    };
    return write_outputs(*sight.scene, outputs);
}

}  // namespace sardonyx::cli
