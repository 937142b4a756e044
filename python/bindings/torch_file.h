// Programs of PyTorch, and the scripts that they are written as.
#pragma once

#include <cstdint>
#include <vector>

#include "bindings/bindings.h"
#include "driver/torch_file.h"

namespace sardonyx::python {

struct PyTorchProgram {
    driver::TorchFile file;
    int64_t opset = 0;
    std::vector<torch::Problem> problems;  // of a program that is not finished
};

}  // namespace sardonyx::python
