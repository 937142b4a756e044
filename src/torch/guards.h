// What torch checks of sizes before it runs a program, and what of it a model does not check.
#pragma once

#include <span>
#include <string>

namespace sardonyx::torch {

// A warning, if sizes have one value only with which the program is right: torch has put numbers
// that follow from the example into it. `guards`: expressions as torch keeps them beside a program,
// such as `(L['x'].size()[1] // 2) == 10`. Empty: there is no such size.
std::string size_warning(std::span<const std::string> guards);

}  // namespace sardonyx::torch
