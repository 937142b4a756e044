// Between the command line and the driver.
#pragma once

#include <optional>

#include "cli/commands.h"
#include "driver/driver.h"

namespace sardonyx::cli {

// What the command line asks of the driver; what is wrong with its options is printed.
std::optional<driver::Request> request_of(const Target& target, const driver::OptionTexts& texts,
                                          const std::vector<std::string>& schemas);

// The status of a compilation that has failed, after its findings; prints its complaint.
int failure_of(const driver::Compilation& compilation);

}  // namespace sardonyx::cli
