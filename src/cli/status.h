// The exit status of a command that works or fails as a whole.
#pragma once

#include <string_view>

#include "base/result.h"
#include "cli/commands.h"
#include "cli/terminal.h"

namespace sardonyx::cli {

// `misuse`: what is wrong with the options; empty: nothing, and `work`, which gives a Result<void>,
// is done.
template <typename Work>
int status_of(std::string_view misuse, const Work& work) {
    if (!misuse.empty()) {
        print_error(misuse);
        return kUsage;
    }
    Result<void> done = work();
    if (!done.ok()) {
        print_error(done.error().message);
        return kFailure;
    }
    return kSuccess;
}

}  // namespace sardonyx::cli
