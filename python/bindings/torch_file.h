// Programs of PyTorch, and the scripts that they are written as.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/bindings.h"
#include "driver/torch_file.h"

namespace sardonyx::python {

struct PyTorchProgram {
    driver::TorchFile file;
    int64_t opset = 0;
    std::vector<torch::Problem> problems;  // of a program that is not finished
    // The script without a file of weights, once it has been asked for; it refers to the program.
    mutable std::shared_ptr<const torch::Script> script = nullptr;
};

// The script that the compiler reads, whose weights are those of the program.
const torch::Script& script_of(const PyTorchProgram& program);

}  // namespace sardonyx::python
