// One operator of any version on small tensors of the types that its schema admits, with attributes
// from anywhere: a result or an error, never a crash.
#include <cstddef>
#include <cstdint>

#include "eval/eval.h"
#include "operands.h"
#include "ops/ops.h"

namespace {

using namespace sardonyx;
using fuzz::Bytes;

std::vector<eval::RuntimeValue> make_inputs(Bytes& bytes, const ops::Schema& schema) {
    std::vector<eval::RuntimeValue> inputs;
    std::vector<ElementType> bound(schema.type_variables.size(), ElementType::kUndefined);
    size_t count = schema.minimum_inputs + bytes.next() % 4u;
    for (size_t i = 0; i < count && i < schema.maximum_inputs; ++i) {
        const ops::Parameter* parameter = schema.input(i);
        const ops::TypeSet& types = schema.type_variables[parameter->type_variable].types;
        ElementType& type = bound[parameter->type_variable];
        if (type == ElementType::kUndefined) {
            type = fuzz::choose(bytes, types.tensor | types.sequence | types.optional_tensor);
        }
        if (type == ElementType::kUndefined || bytes.next() < 8) {
            inputs.emplace_back();
        } else if (types.sequence != 0 && (types.tensor == 0 || bytes.next() % 2 == 0)) {
            inputs.push_back(fuzz::make_sequence(bytes, type));
        } else {
            inputs.emplace_back(fuzz::make_tensor(bytes, type));
        }
    }
    return inputs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Bytes bytes(data, size);
    size_t index = bytes.next() + 256u * bytes.next();
    const ops::Schema& schema = ops::schemas()[index % ops::schemas().size()];
    std::vector<eval::RuntimeValue> inputs = make_inputs(bytes, schema);
    std::vector<ir::Attribute> attributes = fuzz::make_attributes(bytes, schema);
    size_t outputs = schema.minimum_outputs + bytes.next() % 3u;
    eval::RunOptions options;
    options.max_steps = 1000;
    options.max_bytes = 1 << 20;
    auto result = eval::run_operator(schema.domain, schema.name, schema.since_version, inputs,
                                     attributes, outputs, options);
    (void)result.ok();
    return 0;
}
