// NumPy's functions that make tables of known arrays and numbers: triangles and diagonals, grids of
// indices, windows of signals, padded arrays, and the places of elements.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object np_pad(Context& c, const Arguments& a);

Object np_triu(Context& c, const Arguments& a);

Object np_tril(Context& c, const Arguments& a);

Object np_tri(Context& c, const Arguments& a);

Object np_diag(Context& c, const Arguments& a);

Object np_triu_indices(Context& c, const Arguments& a);

Object np_tril_indices(Context& c, const Arguments& a);

Object np_meshgrid(Context& c, const Arguments& a);

Object np_indices(Context& c, const Arguments& a);

Object np_hanning(Context& c, const Arguments& a);

Object np_hamming(Context& c, const Arguments& a);

Object np_blackman(Context& c, const Arguments& a);

Object np_bartlett(Context& c, const Arguments& a);

Object np_nonzero(Context& c, const Arguments& a);

Object np_flatnonzero(Context& c, const Arguments& a);

Object np_take(Context& c, const Arguments& a);

Object np_split(Context& c, const Arguments& a);

Object np_array_split(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
