// Functions of NumPy that make arrays, and those of onnx.helper and onnx.numpy_helper.
#pragma once

#include <optional>

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

Object np_array(Context& c, const Arguments& a);
// The same of one object.
Object array_from(Context& c, const Object& object, syntax::Range range);
Object np_asarray(Context& c, const Arguments& a);
Object np_zeros(Context& c, const Arguments& a);
Object np_ones(Context& c, const Arguments& a);
Object np_full(Context& c, const Arguments& a);
Object np_empty(Context& c, const Arguments& a);
Object np_dtype(Context& c, const Arguments& a);
Object np_arange(Context& c, const Arguments& a);
// onnx.numpy_helper.from_array(array, name) and to_array(tensor): the elements are copied.
Object copied_array(Context& c, const Arguments& a);
// onnx.helper.make_tensor(name, data_type, dims, vals, raw=False)
Object make_tensor(Context& c, const Arguments& a);

// np.finfo(dtype), np.iinfo(dtype): the limits of an element type, as members.
Object np_finfo(Context& c, const Arguments& a);

Object np_iinfo(Context& c, const Arguments& a);

}  // namespace sardonyx::elaborate
