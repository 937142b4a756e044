// Weights: arrays that a script takes from files.
#pragma once

#include "elaborate/objects/arguments.h"
#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// sardonyx.load_weights(path): the tensors of a file as a dict by name.
Object load_weights(Context& c, const Arguments& arguments);
// numpy.load(path): the array of an .npy file, or those of an .npz as a dict.
Object load_array(Context& c, const Arguments& arguments);

}  // namespace sardonyx::elaborate
