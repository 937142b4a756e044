// Emission: nodes at the end of the current graph, typed at once; findings become diagnostics at
// the argument to blame.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elaborate/context.h"

namespace sardonyx::elaborate {

struct NodeRequest {
    std::string_view domain;
    int64_t version = 0;  // of the domain
    std::string_view op_type;
    std::string_view overload;
    std::span<ir::Value* const> inputs;
    std::vector<ir::Attribute> attributes;
    size_t output_count = 1;
    syntax::Range range;  // of the expression
    // Where the arguments stand, by input index; and the attributes, by name. May be fewer.
    std::span<const syntax::Range> input_ranges;
    std::span<const std::pair<std::string_view, syntax::Range>> attribute_ranges;
    bool subgraphs_are_typed = true;
};

// Null after a limit has been exceeded.
ir::Node* emit_node(Context& c, NodeRequest request);

// The value as an object; null, after a diagnostic, as the error object.
inline Object as_object(ir::Value* value) {
    return value != nullptr ? Object::tensor(value) : Object::error();
}

// The same as a Python number.
inline Object as_number(ir::Value* value) {
    return value != nullptr ? Object::number(value) : Object::error();
}

// Notes that the unit uses a version of a domain; a second version of one domain is reported.
void import_opset(Context& c, const OpsetObject& opset, syntax::Range range);
// The first opset of ai.onnx that the body of the current function names, as `op` in `op.Add`;
// version 0: none.
struct NamedOpset {
    Symbol name;
    int64_t version = 0;
};
NamedOpset named_opset(Context& c);
// The opset of Python's operators in the current function.
OpsetObject operator_opset(Context& c);
// The opset that one in the text is compiled to: that of the options or of the caller in place of
// what the text says.
OpsetObject compiled_opset(Context& c, const OpsetObject& written);
// What the unit and those around it say of the opset of a function that is called here.
std::string opsets_around(Context& c);

// A constant node. Large constants of a model become initializers of its main graph; equal ones
// are one.
ir::Value* emit_constant(Context& c, Tensor tensor, syntax::Range range);

// An array that becomes an initializer is named after the variable or key that it came from: the
// first one that the script reads it by.
void name_array(Context& c, const Object& object, std::string_view name);
// Gives the initializers those names, at the end.
void name_initializers(Context& c);

// Takes out all nodes of a graph that was tried and thrown away, so that it uses no values any
// more.
void discard(ir::Graph& graph);
// The same for the nodes behind `last`; null: all.
void discard_behind(ir::Graph& graph, const ir::Node* last);

// The emitter for lowering/operators.h and lowering/subscript.h: all nodes belong to one
// expression.
class Emitter {
  public:
    using Value = ir::Value*;

    Emitter(Context& c, syntax::Range range, std::span<const syntax::Range> operand_ranges = {})
        : c_(c), range_(range), operand_ranges_(operand_ranges) {}

    Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> attributes = {}) {
        return emit_variadic(op_type, {inputs.begin(), inputs.size()}, attributes);
    }
    Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                        std::initializer_list<ir::Attribute> attributes = {});
    ElementType element(Value value) const {
        return value != nullptr ? value->type.element_type() : ElementType::kUndefined;
    }
    int rank(Value value) const {
        return value != nullptr && value->type.has_shape()
                   ? static_cast<int>(value->type.shape().size())
                   : -1;
    }
    int64_t dim(Value value, int64_t axis) const;
    std::optional<int64_t> known(Value value) const;
    bool is_size(Value value) const;
    Value int64s(std::vector<int64_t> values);
    Value int64_scalar(int64_t value);
    Value scalar_like(Value like, double value);
    int64_t opset();
    Value fail(std::string message, std::string help);
    Value fail_index(std::string message, std::string help) {
        return fail(std::move(message), std::move(help));
    }

  private:
    Value shared_int64s(std::vector<int64_t> values, bool is_scalar);

    Context& c_;
    syntax::Range range_;
    std::span<const syntax::Range> operand_ranges_;
};

// --- Static objects as tensors -------------------------------------------------------------------

// The tensor of a number, string, list (nested lists give a rank) or array; `type` kUndefined: the
// type that Python's values imply (int INT64, float FLOAT, bool BOOL, str STRING). Nothing, and a
// diagnostic, when it has none.
std::optional<Tensor> static_tensor(Context& c, const Object& object, ElementType type,
                                    syntax::Range range);

// Refuses what is of two types to Python (Object::is_either) where it would be a tensor of its own.
void report_either(Context& c, syntax::Range range);

// Whether a float is in it.
bool has_float(const Object& object);

// The object as a value of the graph: tensors as they are; static ones as constants of `type`, or,
// when that is unknown and `like` is given, of the type of `like` by CastLike. Null, and a
// diagnostic, when it cannot be.
ir::Value* as_value(Context& c, const Object& object, syntax::Range range,
                    ElementType type = ElementType::kUndefined, ir::Value* like = nullptr);

// CastLike where a literal or a number takes the type of what stands beside it: refused where that
// type turns out not to hold it.
ir::Value* cast_like(Context& c, ir::Value* value, ir::Value* like, syntax::Range range);

// An attribute parameter as a tensor.
ir::Value* attribute_value(Context& c, const AttributeObject& attribute, syntax::Range range);

}  // namespace sardonyx::elaborate
