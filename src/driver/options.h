// What the options of a compilation say where they come as text: of the program and of the C++
// library.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "elaborate/elaborate.h"

namespace sardonyx::driver {

// What stands on both sides of the first `=`.
using Assignment = std::pair<std::string, std::string>;

struct OptionTexts {
    std::vector<Assignment> input_types;         // by parameter: "FLOAT[2,N]"
    std::vector<Assignment> attributes;          // by parameter: a Python literal, or a bare word
    int64_t opset = 0;                           // 0: what the scripts import
    int64_t ir_version = 0;                      // 0: the lowest that the content needs
    std::vector<std::string> library_path = {};  // folders of modules, beside that of the file
};

Result<elaborate::Options> read_options(const OptionTexts& texts);

// Whether a model can be compiled for them; 0: it says nothing of one.
Result<void> check_versions(int64_t opset, int64_t ir_version);

}  // namespace sardonyx::driver
