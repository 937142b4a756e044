// A value of the C interface.
#pragma once

#include "api/handles.h"
#include "eval/eval.h"

struct sdx_value {
    static constexpr uint32_t kKind = 0x7376616c;
    uint32_t kind = kKind;
    sardonyx::eval::RuntimeValue value;
};

namespace sardonyx::api {

// Where the view is of a tensor; the error says why it is not. `what` begins it.
Result<void> check_view(const sdx_view* view, std::string_view what);
// The dims as such.
Result<Dims> read_dims(const int64_t* dims, int32_t rank);

}  // namespace sardonyx::api
