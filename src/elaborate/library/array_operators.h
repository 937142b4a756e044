// NumPy's operators as functions, element by element: np.add(x, y), np.abs(x), np.round(x).
#pragma once

#include <cstdint>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"
#include "lowering/operators.h"
#include "syntax/tree.h"

namespace sardonyx::elaborate {

Object array_operator(Context& c, const Arguments& a, lowering::Binary op);

Object array_comparison(Context& c, const Arguments& a, syntax::CompareOp op);

Object array_sign_operator(Context& c, const Arguments& a, lowering::Unary op);

// `and`, `or`, `xor` of what the elements are as BOOL.
Object array_logic(Context& c, const Arguments& a, lowering::Binary op);

// A function of floats; integers become DOUBLE, as in map_array.
Object array_function_of_reals(Context& c, const Arguments& a, double (*function)(double));

// The same of two arrays.
Object array_function_of_pairs(Context& c, const Arguments& a, double (*function)(double, double));

// A function that keeps floats, and whose result of integers depends on NumPy's version.
Object array_rounding(Context& c, const Arguments& a, double (*function)(double));

// A question whose answer is BOOL.
Object array_question(Context& c, const Arguments& a, bool (*question)(double));

Object np_abs(Context& c, const Arguments& a);
Object np_square(Context& c, const Arguments& a);
Object np_sign(Context& c, const Arguments& a);
Object np_reciprocal(Context& c, const Arguments& a);
Object np_round(Context& c, const Arguments& a);
Object np_logical_not(Context& c, const Arguments& a);
Object np_radians(Context& c, const Arguments& a);
Object np_degrees(Context& c, const Arguments& a);
Object np_sinc(Context& c, const Arguments& a);

// As rows of the table.
template <lowering::Binary op>
Object np_operator(Context& c, const Arguments& a) {
    return array_operator(c, a, op);
}

template <syntax::CompareOp op>
Object np_comparison(Context& c, const Arguments& a) {
    return array_comparison(c, a, op);
}

template <lowering::Unary op>
Object np_sign_operator(Context& c, const Arguments& a) {
    return array_sign_operator(c, a, op);
}

template <lowering::Binary op>
Object np_logic(Context& c, const Arguments& a) {
    return array_logic(c, a, op);
}

template <double (*function)(double)>
Object np_real(Context& c, const Arguments& a) {
    return array_function_of_reals(c, a, function);
}

template <double (*function)(double, double)>
Object np_pair(Context& c, const Arguments& a) {
    return array_function_of_pairs(c, a, function);
}

template <double (*function)(double)>
Object np_rounding(Context& c, const Arguments& a) {
    return array_rounding(c, a, function);
}

template <bool (*question)(double)>
Object np_question(Context& c, const Arguments& a) {
    return array_question(c, a, question);
}

}  // namespace sardonyx::elaborate
