// The opset where a text names none.
#pragma once

#include <cstdint>

namespace sardonyx::elaborate {

// The newest opset that the released runtimes of the day run: what a message proposes, and what
// expressions outside of scripts are computed with.
inline constexpr int64_t kDefaultOpset = 23;

}  // namespace sardonyx::elaborate
