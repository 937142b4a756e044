// NumPy's functions that join known arrays, order their elements anew or choose between them.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object np_concatenate(Context& c, const Arguments& a);
Object np_stack(Context& c, const Arguments& a);
Object np_vstack(Context& c, const Arguments& a);
Object np_hstack(Context& c, const Arguments& a);

Object np_where(Context& c, const Arguments& a);
Object np_maximum(Context& c, const Arguments& a);
Object np_minimum(Context& c, const Arguments& a);
Object np_clip(Context& c, const Arguments& a);

Object np_transpose(Context& c, const Arguments& a);
Object np_flip(Context& c, const Arguments& a);
Object np_tile(Context& c, const Arguments& a);
Object np_repeat(Context& c, const Arguments& a);
Object np_expand_dims(Context& c, const Arguments& a);
Object np_squeeze(Context& c, const Arguments& a);
Object np_reshape(Context& c, const Arguments& a);
Object np_ravel(Context& c, const Arguments& a);
Object np_broadcast_to(Context& c, const Arguments& a);
Object np_pad(Context& c, const Arguments& a);
Object np_triu(Context& c, const Arguments& a);
Object np_tril(Context& c, const Arguments& a);
Object np_diag(Context& c, const Arguments& a);

// Of integers alone, or exact in any order.
Object np_outer(Context& c, const Arguments& a);
Object np_cumsum(Context& c, const Arguments& a);
// The largest or least element, or the sum of integers.
Object np_sum(Context& c, const Arguments& a);
Object np_max(Context& c, const Arguments& a);
Object np_min(Context& c, const Arguments& a);
Object np_sort(Context& c, const Arguments& a);
Object np_argsort(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
