// Programs that sardonyx.torch has captured in memory.
#pragma once

#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "torch/program.h"

namespace sardonyx::python {

struct CapturedProgram {
    torch::Program program;
    std::vector<torch::Problem> problems;  // what cannot be converted
};

// From a `Program` of sardonyx.torch._program. `torch_folder` is in the paths of PyTorch's own
// files.
CapturedProgram captured_program(nb::handle program, const std::string& torch_folder);

}  // namespace sardonyx::python
