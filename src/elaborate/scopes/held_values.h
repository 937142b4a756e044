// Optional values of the graph that a condition has found to be there.
#pragma once

#include <vector>

#include "elaborate/objects/context.h"

namespace sardonyx::elaborate {

// The optional values that are there when `condition`, which has been evaluated, is `outcome`:
// those of names that are compared with None, and of parts that `not`, `and` and `or` join.
std::vector<ir::Value*> held_when(Context& c, const syntax::Expr* condition, bool outcome);

// While it lives, and where the graph that it was made in is run, these values are there.
class HeldValues {
  public:
    HeldValues(Context& c, const std::vector<ir::Value*>& values);
    ~HeldValues() { c_.held.resize(before_); }
    HeldValues(const HeldValues&) = delete;
    HeldValues& operator=(const HeldValues&) = delete;

  private:
    Context& c_;
    size_t before_;
};

// What the object holds, if it is an optional value that is known to be there; else the object.
// Python has nothing between the two: a value that is not None is the value itself.
Object held(Context& c, const Object& object, syntax::Range range);

// Whether the value is what such a value holds: to take out what it holds gives the value itself.
bool is_held(const Context& c, const ir::Value* value);

}  // namespace sardonyx::elaborate
