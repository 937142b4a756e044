// Calls of torch.vmap. A captured graph has them as two marks, between which operators are those of
// single elements: `_vmap_increment_nesting`, `_add_batch_dim` for each argument, the operators,
// `_remove_batch_dim` for each result, `_vmap_decrement_nesting`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "torch/program.h"

namespace sardonyx::torch {

// What a mark is called in programs, `vmap::_add_batch_dim`; empty: it is one of another
// transformation, such as `torch.func.jvp`.
std::string vmap_target(std::string_view name);
// A program with such a mark in a file, and what to write instead.
inline constexpr std::string_view kOtherTransformation =
    "a transformation of `torch.func` other than `vmap`";
inline constexpr std::string_view kWithoutTransformation =
    "save what `exported.run_decompositions({})` gives, or export the module by "
    "`sardonyx.torch.export`";

// Replaces the calls by operators of whole batches, where each operator between the marks has such
// a form, and by loops over the elements otherwise. Returns what has neither form.
std::vector<Problem> replace_vmap(Program& program);

}  // namespace sardonyx::torch
