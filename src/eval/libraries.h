// Which libraries of the system the evaluator found. None of them is needed: without one, a loop of
// our own does the work, or an operator says what is missing.
#pragma once

#include <string_view>
#include <vector>

namespace sardonyx::eval {

struct OptionalLibrary {
    std::string_view name;
    std::string_view purpose;
    std::string_view package;  // of Debian and Ubuntu
    bool is_found = false;     // false too where its header was missing when this was built
};

// Loads those that are there.
std::vector<OptionalLibrary> optional_libraries();

// The instruction set that loops are chosen for on this processor, such as "x86-64-v3"; empty: they
// are compiled for one.
std::string_view loops_instruction_set();

}  // namespace sardonyx::eval
