// sardonyx explain: what a code means, with an example and its repair.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/terminal.h"
#include "diagnostics/pages.h"

namespace sardonyx::cli {
namespace {

int list_codes() {
    size_t width = 0;
    for (const diagnostics::Page& page : diagnostics::pages()) {
        width = std::max(width, page.code.size());
    }
    for (const diagnostics::Page& page : diagnostics::pages()) {
        print(fmt::format("{:{}}  {}\n", page.code, width, page.summary));
    }
    return kSuccess;
}

}  // namespace

int run_explain(const ExplainOptions& options) {
    if (options.code.empty()) {
        return list_codes();
    }
    if (const diagnostics::Page* page = diagnostics::find_page(options.code)) {
        print(page->text);
        return kSuccess;
    }
    std::vector<std::string_view> codes;
    for (const diagnostics::Page& page : diagnostics::pages()) {
        codes.push_back(page.code);
    }
    std::string_view near = nearest(options.code, codes);
    print_error(
        near.empty()
            ? fmt::format("there is no code `{}`; `sardonyx explain` lists all", options.code)
            : fmt::format("there is no code `{}`; did you mean `{}`?", options.code, near));
    return kUsage;
}

}  // namespace sardonyx::cli
