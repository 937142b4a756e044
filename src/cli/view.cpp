// sardonyx view: a picture of a graph.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/write_file.h"
#include "cli/commands.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "cli/view_scene.h"
#include "cli/view_server.h"
#include "view/layout.h"
#include "view/write.h"

namespace sardonyx::cli {
namespace {

struct Output {
    const std::string* path;  // empty: not wanted
    view::Subgraphs subgraphs;
    std::string (*write)(const view::Scene& scene);
};

int write_outputs(view::Scene& scene, std::span<const Output> outputs) {
    for (const Output& output : outputs) {
        if (output.path->empty()) {
            continue;
        }
        view::lay_out(scene, output.subgraphs);
        std::string text = output.write(scene);
        Result<void> written;
        *output.path == kStream ? print(text) : void(written = write_file(*output.path, text));
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
            return Error{"nothing to show: see the error in the terminal, correct it and reload"};
        }
        view::lay_out(*sight.scene, view::Subgraphs::kApart);
        return view::to_html(*sight.scene);
    };
    Result<void> served = serve_page(page, options.port);
    print_error(served.ok() ? "the server has ended" : served.error().message);
    return kFailure;
}

// Does not return where Netron takes over.
int become_netron(const std::string& path) {
    std::string program = "netron", file = path;
    char* words[] = {program.data(), file.data(), nullptr};
    ::execvp(words[0], words);
    print_error(fmt::format("cannot start Netron ({}): install it with `pip install netron`",
                            std::strerror(errno)));
    return kFailure;
}

bool is_file_output(const ViewOptions& options) {
    return !options.html.empty() || !options.svg.empty() || !options.json.empty();
}

std::vector<std::string> inputs_of(const ViewOptions& options) {
    std::vector<std::string> paths = options.schemas;
    paths.insert(paths.end(), options.given.files.begin(), options.given.files.end());
    paths.push_back(options.target.path);
    if (options.other) {
        paths.push_back(options.other->path);
    }
    return paths;
}

}  // namespace

std::string_view complaint(const ViewOptions& options) {
    int streams = (options.html == kStream) + (options.svg == kStream) + (options.json == kStream);
    if (streams > 1) {
        return "only one of `--html`, `--svg` and `--json` can be standard output";
    }
    if (is_file_output(options) && options.port != 0) {
        return "`--port` is for the page that is served: use it without `--html`, `--svg` and "
               "`--json`";
    }
    auto is_named_file = [](const Target& one) { return !one.name.empty() && !one.is_script(); };
    if (is_named_file(options.target) || (options.other && is_named_file(*options.other))) {
        return "`:NAME` is for scripts, whose names end in `.py`";
    }
    if (!options.has_script() && (!options.texts.attributes.empty() ||
                                  !options.texts.input_types.empty() || options.texts.opset != 0)) {
        return "`--input`, `--attribute` and `--opset` are for scripts, whose names end in `.py`";
    }
    if (options.netron && (is_file_output(options) || options.port != 0 || options.has_run() ||
                           options.outline || options.other)) {
        return "`--netron` starts another program: use it without other options";
    }
    if (options.netron && (options.target.is_script() || options.target.is_stdin())) {
        return "`--netron` shows model files: write one with `sardonyx build`";
    }
    if (!options.has_run() && (options.given.seed != 0 || !options.given.sizes.empty())) {
        return "`--seed` and `--dim` are for a run: use them with `--run` or `--random`";
    }
    if (options.other && (options.other->is_stdin() || options.target.is_stdin())) {
        return "two models side by side are files, not standard input";
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
    if (options.netron) {
        return become_netron(options.target.path);
    }
    if (!is_file_output(options)) {
        return serve(options);
    }
    Result<void> kept = keep_inputs(inputs_of(options), {options.html, options.svg, options.json});
    if (!kept.ok()) {
        print_error(kept.error().message);
        return kUsage;
    }
    Sight sight = see(options);
    if (!sight.scene) {
        return sight.status;
    }
    const Output outputs[] = {
        {&options.html, view::Subgraphs::kApart, view::to_html},
        {&options.svg, view::Subgraphs::kInside, view::to_svg},
        {&options.json, view::Subgraphs::kApart,
         [](const view::Scene& scene) { return view::to_json(scene) + "\n"; }},
    };
    int written = write_outputs(*sight.scene, outputs);
    return written != kSuccess ? written : sight.status;
}

}  // namespace sardonyx::cli
