// Which elements of a known array an index selects, as NumPy's documentation describes it
// ("Indexing on ndarrays"): integers, slices, `...`, None, and lists and arrays of integers or
// BOOL.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "elaborate/objects/context.h"
#include "types/tensor.h"

namespace sardonyx::elaborate {

struct Selection {
    std::vector<int64_t> places;  // of the elements, in the array
    Dims dims;                    // of what is selected
    bool is_copy = false;         // NumPy gives an array of its own, not a view
    bool is_error = false;        // NumPy raises, and this is reported
};

// Nothing: the index has a part of another kind, or this is not computed here.
std::optional<Selection> select_items(Context& c, const Tensor& array, const Object& index,
                                      syntax::Range range);

}  // namespace sardonyx::elaborate
