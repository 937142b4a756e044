// Declarations of the functions that the rows of kernels.def name.
#pragma once

#include "eval/kernel.h"

namespace sardonyx::eval::kernels {

#define SDX_KERNEL(domain, name, minimum, maximum, function) Status function(KernelContext&);
#define SDX_MOVEMENT(domain, name, minimum, maximum, function) Status function(KernelContext&);
#define SDX_CONTROL(domain, name, minimum, maximum, function) \
    Status function(Runner&, const NodePlan&, Frame&);
#include "eval/kernels.def"
#undef SDX_KERNEL
#undef SDX_MOVEMENT
#undef SDX_CONTROL

}  // namespace sardonyx::eval::kernels
