// NumPy's functions that make arrays.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Functions of NumPy (array_functions.cpp).
Object np_linspace(Context& c, const struct Arguments& a);

Object np_eye(Context& c, const struct Arguments& a);

Object np_zeros_like(Context& c, const struct Arguments& a);

Object np_ones_like(Context& c, const struct Arguments& a);

Object np_full_like(Context& c, const struct Arguments& a);

Object arange_of_floats(Context& c, const struct Arguments& a);

}  // namespace sardonyx::elaborate
