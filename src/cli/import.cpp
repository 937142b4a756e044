// sardonyx import: a .pt2 file of PyTorch as a model or a script.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "cli/commands.h"
#include "cli/model_file.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "diagnostics/glyphs.h"
#include "driver/progress_bar.h"
#include "driver/torch_file.h"
#include "driver/torch_library.h"
#include "torch/names.h"

namespace sardonyx::cli {
namespace {

// A message of several lines: a paragraph for each problem of the file.
int print_problems(std::string_view message) {
    size_t end = std::min(message.find('\n'), message.size());
    print_error(message.substr(0, end));
    while (end < message.size()) {
        std::string_view rest = message.substr(end + 1);
        size_t length = std::min(rest.find('\n'), rest.size());
        print_note(diagnostics::visible(rest.substr(0, length)) + "\n");
        end += length + 1;
    }
    return kFailure;
}

}  // namespace

int run_import(const ImportOptions& options) {
    driver::TorchOptions wanted;
    bool is_script = std::filesystem::path(options.output).extension() == ".py";
    if (is_script && !options.target.empty()) {
        print_error("`--target` is for models, not for scripts");
        return kUsage;
    }
    std::optional<std::string_view> release;
    if (!options.target.empty()) {
        release = options.target;
    }
    Result<driver::TorchTarget> target = driver::torch_target(release, options.opset);
    if (!target.ok()) {
        print_error(target.error().message);
        return kUsage;
    }
    if (options.outline && !is_script) {
        print_error("`--outline` is for scripts, not for models");
        return kUsage;
    }
    wanted.state = options.state;
    for (const std::string& dim : options.dims) {
        size_t equals = std::min(dim.find('='), dim.size());
        std::string name = dim.substr(std::min(equals + 1, dim.size()));
        if (!torch::is_free_name(name)) {
            print_error(fmt::format("`--dim {}`: write it as `--dim s77=batch`", dim));
            return kUsage;
        }
        wanted.dims[dim.substr(0, equals)] = name;
    }
    std::vector<std::string> inputs = options.libraries;
    inputs.push_back(options.model);
    if (Result<void> kept = keep_inputs(inputs, {options.output}); !kept.ok()) {
        print_error(kept.error().message);
        return kUsage;
    }
    Result<torch::OwnOperators> own = driver::read_torch_libraries(options.libraries);
    if (!own.ok()) {
        return print_problems(own.error().message);
    }
    wanted.own = std::move(*own);
    const std::string path = options.model == kStream ? "/dev/stdin" : options.model;
    Result<driver::TorchFile> file = driver::read_torch_file(path, wanted);
    if (!file.ok()) {
        return print_problems(file.error().message);
    }
    if (!file->size_warning.empty()) {
        print_note(fmt::format("warning: {}\n", diagnostics::visible(file->size_warning)));
    }
    driver::SavingBar bar(options.quiet);
    Result<void> done;
    if (options.output == kStream) {
        Result<std::string> bytes = driver::torch_model_bytes(*file, *target);
        if (!bytes.ok()) {
            return print_problems(bytes.error().message);
        }
        print(*bytes);
    } else if (is_script) {
        done = driver::write_torch_script(*file, target->opset, options.outline, options.output);
    } else if (Result<size_t> size =
                   driver::write_torch_model(*file, *target, options.output, bar.watch());
               !size.ok()) {
        done = size.error();
    }
    return done.ok() ? kSuccess : print_problems(done.error().message);
}

}  // namespace sardonyx::cli
