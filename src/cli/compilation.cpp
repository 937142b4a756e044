#include "cli/compilation.h"

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
