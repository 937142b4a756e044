// Files of `torch.export.save` (.pt2) as programs: a ZIP of a program as JSON and of storages.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "torch/program.h"
#include "torch/sizes.h"
#include "types/tensor.h"

namespace sardonyx::torch {

struct ReadProgram {
    Program program;
    std::vector<std::pair<std::string, Tensor>> arrays;  // by the names in `weights`
    std::vector<Problem> problems;                       // what cannot be converted
    std::vector<std::string> guards;                     // of sizes (guards.h)
};

// `owner` keeps the bytes alive, of which the arrays are views. Errors: it is no such file, is
// damaged, or of a version that is not read.
Result<ReadProgram> read_pt2(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                             const DimNames& names);

}  // namespace sardonyx::torch
