// What the program and the C++ library do alike before they compile: which script of a file is
// meant, and what the options say that come as text.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "elaborate/elaborate.h"

namespace sardonyx::api {

// What stands on both sides of the first `=`.
using Assignment = std::pair<std::string, std::string>;

struct OptionTexts {
    std::vector<Assignment> input_types;  // by parameter: "FLOAT[2,N]"
    std::vector<Assignment> attributes;   // by parameter: a Python literal, or a bare word
    int64_t opset = 0;                    // 0: what the scripts import
    int64_t ir_version = 0;               // 0: the lowest that the content needs
};

Result<elaborate::Options> read_options(const OptionTexts& texts);

// The script of this name; without a name, the only one that no other script of the file uses, or
// the only one of those that compiles as a model without further types. The error lists the names.
Result<std::shared_ptr<elaborate::ScriptFunction>> choose_script(elaborate::Program& program,
                                                                 elaborate::FileModule& module,
                                                                 std::string_view name);

// The script as a model, with its findings; null, and no findings, when it is not meant as one:
// inputs have no types, or attribute parameters no values.
std::unique_ptr<ir::Model> try_model(elaborate::Program& program,
                                     const elaborate::ScriptFunction& function,
                                     const elaborate::Options& options);

}  // namespace sardonyx::api
