// The table that tools/generate_torch.py makes of lib/torch, sorted by its first columns.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "torch/library.h"

namespace sardonyx::torch {

// An overload of PyTorch, and what a script calls it.
struct OverloadRow {
    std::string_view overload;
    std::string_view name;
};
// What a script calls a function, its file, and its name there.
struct FunctionRow {
    std::string_view name;
    std::string_view file;
    std::string_view function;
};
struct FileRow {
    std::string_view name;
    std::span<const StatementRow> statements;
    std::string_view text;
};

extern const OverloadRow kOverloads[];
extern const size_t kOverloadCount;
extern const FunctionRow kFunctions[];
extern const size_t kFunctionCount;
extern const FileRow kFiles[];
extern const size_t kFileCount;

}  // namespace sardonyx::torch
