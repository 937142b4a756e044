// The tensors that a model stores as initializers: listed, taken out, replaced.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/ir.h"
#include "models/statistics.h"
#include "weights/weights.h"

namespace sardonyx::models {

struct WeightRow {
    std::string name, type;
    int64_t elements = 0, bytes = 0;
    bool is_sparse = false;  // `bytes` are then those of the stored elements and their indices
    size_t reads = 0;        // by nodes
    std::optional<Statistics> statistics;
};

// Of the graph and all graphs in it, in the order of the file. Statistics are those of the dense
// form.
// `names`: the only ones; empty: all.
Result<std::vector<WeightRow>> list_weights(const ir::Model& model,
                                            const std::vector<std::string>& names,
                                            bool with_statistics);
std::string weights_text(const std::vector<WeightRow>& rows);
std::string weights_json(const std::vector<WeightRow>& rows);

// Their tensors by name, sparse ones in the dense form. Error: a name of `names` that is not;
// empty: all.
Result<weights::NamedTensors> named_weights(const ir::Model& model,
                                            const std::vector<std::string>& names);

// Puts tensors in the place of those of their names; the names of those that change, which are
// dense then. Error: a name that is not there, another type or shape.
Result<std::vector<std::string>> replace_weights(ir::Model& model,
                                                 const weights::NamedTensors& tensors);
std::string changes_json(const std::vector<std::string>& names, size_t bytes);

}  // namespace sardonyx::models
