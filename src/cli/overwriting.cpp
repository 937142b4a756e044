#include "cli/overwriting.h"

#include <fmt/format.h>

#include <filesystem>

namespace sardonyx::cli {

bool is_same_file(const std::string& one, const std::string& other) {
    std::error_code failed;
    return std::filesystem::equivalent(one, other, failed) && !failed;
}

Result<void> keep_inputs(const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs) {
    for (const std::string& output : outputs) {
        for (const std::string& input : inputs) {
            if (is_same_file(input, output)) {
                return Error{
                    fmt::format("`{}` would overwrite `{}`, which is read; write another "
                                "file",
                                output, input)};
            }
        }
    }
    return {};
}

}  // namespace sardonyx::cli
