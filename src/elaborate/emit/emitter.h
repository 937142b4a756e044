// The emitter for lowering/operators.h and lowering/subscript.h: all nodes belong to one
// expression.
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elaborate/objects/context.h"
#include "lowering/graph_values.h"

namespace sardonyx::elaborate {

// The emitter for lowering/operators.h and lowering/subscript.h: all nodes belong to one
// expression.
class Emitter : public lowering::GraphValues {
  public:
    Emitter(Context& c, syntax::Range range, std::span<const syntax::Range> operand_ranges = {})
        : c_(c), range_(range), operand_ranges_(operand_ranges) {}

    Value emit(std::string_view op_type, std::initializer_list<Value> inputs,
               std::initializer_list<ir::Attribute> attributes = {}) {
        return emit_variadic(op_type, {inputs.begin(), inputs.size()}, attributes);
    }
    Value emit_variadic(std::string_view op_type, std::span<const Value> inputs,
                        std::initializer_list<ir::Attribute> attributes = {});
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
    bool is_of_sizes(Value value) const;
    // The result of an equal node that stands before; null: there is none.
    Value known_of_sizes(std::string_view op_type, std::span<const Value> inputs,
                         std::initializer_list<ir::Attribute> attributes) const;

    Context& c_;
    syntax::Range range_;
    std::span<const syntax::Range> operand_ranges_;
};

}  // namespace sardonyx::elaborate
