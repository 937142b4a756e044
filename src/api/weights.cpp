#include "weights/weights.h"

#include <sardonyx/weights.h>

#include "api/convert.h"
#include "api/fail.h"

namespace sardonyx {
inline namespace v1 {

std::map<std::string, Array, std::less<>> load_weights(const std::string& path) {
    Result<weights::NamedTensors> tensors = weights::read_weights(path);
    if (!tensors.ok()) {
        api::fail(tensors.error().message);
    }
    std::map<std::string, Array, std::less<>> arrays;
    for (const auto& [name, tensor] : *tensors) {
        arrays.emplace(name, std::get<Array>(api::from_engine(name, eval::RuntimeValue(tensor))));
    }
    return arrays;
}

}  // namespace v1
}  // namespace sardonyx
