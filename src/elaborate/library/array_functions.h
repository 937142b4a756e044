// NumPy's functions that make arrays, and those that look elements up: the different ones, places
// in a sorted array, values between known points.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// Says that this function of NumPy is not computed for these arguments.
Object refuse_array(Context& c, const Arguments& a, std::string_view name);

// An argument by its place or keyword; null: it is not given.
const Object* argument_of(const Arguments& a, size_t position, std::string_view name);

// The call with lists and numbers among its first arguments as arrays, which NumPy makes of them;
// nothing after a diagnostic.
std::optional<Arguments> with_arrays(Context& c, const Arguments& a, size_t count);

bool has_other_keywords(const Arguments& a, std::initializer_list<std::string_view> known);

// Functions of NumPy (array_functions.cpp).
Object np_linspace(Context& c, const Arguments& a);

Object np_eye(Context& c, const Arguments& a);

Object np_zeros_like(Context& c, const Arguments& a);

Object np_ones_like(Context& c, const Arguments& a);

Object np_full_like(Context& c, const Arguments& a);

Object np_empty_like(Context& c, const Arguments& a);

Object np_logspace(Context& c, const Arguments& a);

Object np_copy(Context& c, const Arguments& a);

Object np_atleast_2d(Context& c, const Arguments& a);

Object np_unique(Context& c, const Arguments& a);

Object np_searchsorted(Context& c, const Arguments& a);

Object np_interp(Context& c, const Arguments& a);

Object np_count_nonzero(Context& c, const Arguments& a);

Object np_isin(Context& c, const Arguments& a);

// np.arange(start, stop, step) of which one is a float; `type`: the dtype that is asked for.
Object arange_of_floats(Context& c, const Arguments& a, std::optional<ElementType> type);

}  // namespace sardonyx::elaborate
