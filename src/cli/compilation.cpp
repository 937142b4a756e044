#include "cli/compilation.h"

#include "cli/standard_input.h"
#include "cli/terminal.h"

namespace sardonyx::cli {

std::optional<driver::Request> request_of(const Target& target, const driver::OptionTexts& texts,
                                          const std::vector<std::string>& schemas) {
    Result<elaborate::Options> options = driver::read_options(texts);
    if (!options.ok()) {
        print_error(options.error().message);
        return std::nullopt;
    }
    driver::Request request;
    request.path = target.path;
    if (target.is_stdin()) {
        Result<std::string> text = read_standard_input();
        if (!text.ok()) {
            print_error(text.error().message);
            return std::nullopt;
        }
        request.path =
            target.stdin_name.empty() ? std::string(driver::kStandardInput) : target.stdin_name;
        request.text = std::move(*text);
    }
    request.script = target.name;
    request.options = std::move(*options);
    request.schemas = schemas;
    return request;
}

int failure_of(const driver::Compilation& compilation) {
    if (compilation.complaint.empty()) {
        return kFailure;
    }
    print_error(compilation.complaint);
    return kUsage;
}

}  // namespace sardonyx::cli
