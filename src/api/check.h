// The check of files for both public interfaces.
#pragma once

#include <sardonyx/check.h>

#include <string>
#include <vector>

namespace sardonyx::api {

struct Report {
    std::vector<Diagnostic> findings;
    std::string text;  // as the program `sardonyx` prints them
};

Report check_files(const std::vector<std::string>& paths, const CheckOptions& options);

}  // namespace sardonyx::api
