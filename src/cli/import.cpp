// sardonyx import: a .pt2 file of PyTorch as a model or a script.
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "cli/commands.h"
#include "cli/overwriting.h"
#include "cli/terminal.h"
#include "driver/torch_file.h"
#include "torch/names.h"

namespace sardonyx::cli {

int run_import(const ImportOptions& options) {
    driver::TorchOptions wanted;
    wanted.opset = options.opset.value_or(wanted.opset);
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
    std::filesystem::path output = options.output;
    if (output.empty()) {
        output = std::filesystem::path(options.model).replace_extension(".onnx");
    }
    if (is_same_file(options.model, output.string())) {
        print_error(fmt::format("`{}` would overwrite the file that is read", output.string()));
        return kUsage;
    }
    Result<driver::TorchFile> file = driver::read_torch_file(options.model, wanted);
    if (!file.ok()) {
        print_error(file.error().message);
        return kFailure;
    }
    Result<void> done;
    if (output.extension() == ".py") {
        done = driver::write_torch_script(*file, wanted.opset, output.string());
    } else if (Result<size_t> size =
                   driver::write_torch_model(*file, wanted.opset, output.string());
               !size.ok()) {
        done = size.error();
    }
    if (!done.ok()) {
        print_error(done.error().message);
        return kFailure;
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
