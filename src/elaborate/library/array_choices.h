// NumPy's functions that join known arrays, choose between their elements, order or add them: those
// that give the same in any order of computation.
#pragma once

#include <optional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object np_concatenate(Context& c, const Arguments& a);

Object np_stack(Context& c, const Arguments& a);

Object np_vstack(Context& c, const Arguments& a);

Object np_hstack(Context& c, const Arguments& a);

Object np_append(Context& c, const Arguments& a);

Object np_column_stack(Context& c, const Arguments& a);

Object np_where(Context& c, const Arguments& a);

Object np_maximum(Context& c, const Arguments& a);

Object np_minimum(Context& c, const Arguments& a);

Object np_clip(Context& c, const Arguments& a);

Object np_cumsum(Context& c, const Arguments& a);

Object np_cumprod(Context& c, const Arguments& a);

Object np_diff(Context& c, const Arguments& a);

Object np_sort(Context& c, const Arguments& a);

Object np_argsort(Context& c, const Arguments& a);

// np.r_[index], np.mgrid[index] and np.ogrid[index]; nothing: `grid` is none of them.
std::optional<Object> grid_item(Context& c, const Object& grid, const Object& index,
                                syntax::Range range);

Object called_grid(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
