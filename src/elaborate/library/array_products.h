// NumPy's functions that multiply known arrays and add the products: np.dot, np.einsum, np.kron.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object np_matmul(Context& c, const Arguments& a);

Object np_dot(Context& c, const Arguments& a);

Object np_outer(Context& c, const Arguments& a);

Object np_kron(Context& c, const Arguments& a);

Object np_trace(Context& c, const Arguments& a);

Object np_cross(Context& c, const Arguments& a);

Object np_polyval(Context& c, const Arguments& a);

Object np_convolve(Context& c, const Arguments& a);

Object np_einsum(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
