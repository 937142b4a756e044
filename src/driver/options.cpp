#include "driver/options.h"

#include <fmt/format.h>

#include "driver/literal.h"

namespace sardonyx::driver {
namespace {

constexpr int64_t kMaxVersion = 1'000'000;

}  // namespace

Result<elaborate::Options> read_options(const OptionTexts& texts) {
    elaborate::Options options;
    for (const auto& [name, text] : texts.input_types) {
        std::optional<Type> type = parse_type(text);
        if (!type) {
            return Error{fmt::format(
                "`{}` is not a type; write one as in `{}='FLOAT[2,N]'`, `INT64` for a scalar, or "
                "`FLOAT[...]` for any shape",
                text, name)};
        }
        options.input_types.emplace_back(name, *type);
    }
    for (const auto& [name, text] : texts.attributes) {
        Result<elaborate::Object> value = read_literal(text);
        if (!value.ok()) {
            return Error{fmt::format("the attribute `{}`: {}", name, value.error().message)};
        }
        options.attributes.emplace_back(name, std::move(*value));
    }
    if (texts.opset < 0 || texts.opset > kMaxVersion || texts.ir_version < 0 ||
        texts.ir_version > kMaxVersion) {
        return Error{"versions are positive numbers"};
    }
    options.opset = texts.opset;
    options.ir_version = texts.ir_version;
    options.library_path = texts.library_path;
    return options;
}

}  // namespace sardonyx::driver
