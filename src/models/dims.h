// The named dimensions of a model.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/ir.h"

namespace sardonyx::models {

using Meaning = std::function<Dim(std::string_view name)>;

// The type with each name replaced by what it means, also in the elements of sequences, optionals
// and maps.
Type with_dims(const Type& type, const Meaning& meaning);
// The same for all values of the graph and of all graphs in it.
void replace_dims(ir::Model& model, const Meaning& meaning);
// The names, sorted.
std::vector<std::string> dims_of(const ir::Model& model);

}  // namespace sardonyx::models
