// Evaluation of expressions at compile time: static where everything is known, nodes otherwise.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/context.h"
#include "lowering/subscript.h"

namespace sardonyx::elaborate {

// `wanted`: the number of targets that the result is unpacked into; 0: it is used as one value.
Object eval(Context& c, const syntax::Expr* expr, size_t wanted = 0);

// The object of a name, from the scopes outwards to the environment; reports an unknown or unbound
// one.
Object lookup(Context& c, Symbol name, syntax::Range range);

// A member of an object: op.Add, x.shape, math.pi.
Object member(Context& c, const Object& object, std::string_view name, syntax::Range range,
              syntax::Range name_range);

// object[index]; `index_expr` is where the index stands.
Object subscript(Context& c, const Object& object, const Object& index,
                 const syntax::Expr* index_expr, syntax::Range range, syntax::Range object_range);
// An index of a tensor as lowering/subscript.h takes it; nothing after a diagnostic.
std::optional<std::vector<lowering::SubscriptItem<ir::Value*>>> subscript_items(
    Context& c, const Object& index, const syntax::Expr* index_expr);
// The place of an item of a static list, Python's negative indices counted; nothing, and a
// diagnostic, when there is no such item.
std::optional<size_t> list_index(Context& c, const Object& list, const Object& index, size_t size,
                                 syntax::Range index_range);

// The places that a static slice selects of so many items, by Python's rules; nothing: its bounds
// are no integers, or its step is 0.
std::optional<RangeObject> slice_range(const SliceObject& slice, int64_t size);

// The rows of a tensor whose first dim is known, to be unpacked. Nothing: it is not known how many
// there are.
std::optional<std::vector<Object>> tensor_rows(Context& c, const Object& object,
                                               syntax::Range range);

Object binary(Context& c, syntax::BinaryOp op, const Object& a, const Object& b,
              syntax::Range range, syntax::Range a_range, syntax::Range b_range);

// a op b, of two operands of a comparison.
Object compare_pair(Context& c, syntax::CompareOp op, const Object& a, const Object& b,
                    syntax::Range range, syntax::Range a_range, syntax::Range b_range);

// A truth value for `if`, `while`, `and`, ...: static, or a BOOL tensor of one element. Reports
// what has none.
Object condition(Context& c, const Object& object, syntax::Range range);

// The truth value of the test of an `if`, `while` or conditional expression: a tensor is made a
// scalar.
Object test_value(Context& c, const syntax::Expr* expr);

// --- Calls ---------------------------------------------------------------------------------------

struct KeywordArgument {
    std::string_view name;
    Object value;
    syntax::Range name_range;
    syntax::Range range;
};

struct Arguments {
    std::vector<Object> positional;
    std::vector<syntax::Range> ranges;  // of the positional ones
    std::vector<KeywordArgument> keywords;
    syntax::Range range;         // the whole call
    syntax::Range callee_range;  // what is called
    Symbol receiver;             // `op` in `op.Add(...)`; invalid: not a name

    const KeywordArgument* find(std::string_view name) const;
};

Object call(Context& c, const Object& callee, const Arguments& arguments, size_t wanted = 0);
Object call_operator(Context& c, const OpsetObject& opset, std::string_view name,
                     const Arguments& arguments, size_t wanted);
Object call_script(Context& c, const ScriptFunction& function, const Arguments& arguments,
                   size_t wanted);
// Runs a nested function or lambda in place.
Object call_closure(Context& c, const Closure& closure, const Arguments& arguments);

// The body of a closure as a subgraph with inputs of these types (extra types from annotations).
// Null after an error.
ir::Graph* closure_graph(Context& c, const Closure& closure, std::span<const Type> input_types,
                         syntax::Range range);

// An attribute of this type from an object; a diagnostic and nothing when it does not fit.
// kUndefined: the type that the object implies.
std::optional<ir::Attribute> make_attribute(Context& c, std::string_view name,
                                            ir::AttributeType type, const Object& object,
                                            syntax::Range range);

}  // namespace sardonyx::elaborate
