// Jumps that happen or not on a tensor's value.
//
// Such a jump sets a flag, a pseudo-variable of the scope that branches merge and loops carry like
// any other name, and what follows it runs in an If on that flag. Flags that are static, or absent,
// cost nothing.
#pragma once

#include "elaborate/objects/context.h"
#include "elaborate/scopes/branch.h"

namespace sardonyx::elaborate {

// The flags of the innermost loop: whether its body has been left by break or continue.
Symbol broke_flag(const Context& c);

Symbol continued_flag(const Context& c);

// Whether the function has returned, and what. A return in a loop sets the loop's broke_flag too.
inline constexpr Symbol kReturnedFlag{kFirstFlag};

inline constexpr Symbol kReturnedResult{kFirstFlag + 1};

// The flag's value: a BOOL tensor, or static; false when it has never been set.
Object flag_value(const Context& c, Symbol flag);

// What the flags say that the function has returned; the error object: nothing.
Object returned_result(const Context& c);

// Reports that a result has no type that the ways without it could take.
[[gnu::cold]] void report_untyped_result(Context& c, syntax::Range range);

// Turns the return that the branch ended with into flags.
void flag_return(Context& c, Branch& branch);

// The same for a return at the end of the current block.
void flag_return(Context& c);

// Whether a jump on a tensor's value may have left the block; then the BOOL value that says so,
// else null.
ir::Value* dynamic_jump(Context& c, syntax::Range range);

}  // namespace sardonyx::elaborate
