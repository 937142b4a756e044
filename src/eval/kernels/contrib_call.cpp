#include "eval/kernels/contrib_call.h"

#include <utility>

namespace sardonyx::eval {

Result<std::vector<RuntimeValue>> call_standard(KernelContext& c, std::string_view name,
                                                Kernel kernel, std::vector<RuntimeValue> inputs,
                                                std::vector<ir::Attribute> attributes,
                                                size_t outputs) {
    constexpr int64_t kOpset = 23;
    const ops::Schema* schema = ops::find_schema("", name, kOpset);
    SDX_CHECK(schema != nullptr);
    std::vector<const RuntimeValue*> pointers;
    pointers.reserve(inputs.size());
    for (const RuntimeValue& value : inputs) {
        pointers.push_back(&value);
    }
    std::vector<RuntimeValue> results(outputs);
    KernelContext inner(*schema, pointers, AttributeView(attributes, {}), results, c.options(),
                        c.random());
    SDX_TRY(kernel(inner));
    return results;
}

Result<Tensor> call_standard(KernelContext& c, std::string_view name, Kernel kernel,
                             std::initializer_list<const Tensor*> inputs,
                             std::vector<ir::Attribute> attributes) {
    std::vector<RuntimeValue> values;
    values.reserve(inputs.size());
    for (const Tensor* one : inputs) {
        values.push_back(one == nullptr ? RuntimeValue() : RuntimeValue(*one));
    }
    SDX_ASSIGN(std::vector<RuntimeValue> results,
               call_standard(c, name, kernel, std::move(values), std::move(attributes), 1));
    return results[0].tensor();
}

}  // namespace sardonyx::eval
