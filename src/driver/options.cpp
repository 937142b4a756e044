#include "driver/options.h"

#include <fmt/format.h>

#include "driver/literal.h"
#include "ops/versions.h"
#include "types/type_meant.h"

namespace sardonyx::driver {

Result<elaborate::Options> read_options(const OptionTexts& texts) {
    elaborate::Options options;
    for (const auto& [name, text] : texts.input_types) {
        std::optional<Type> type = parse_type(text);
        if (!type) {
            return Error{fmt::format(
                "`{}` is not a type; write one as in `{}='FLOAT[2,N]'`, `INT64` for a scalar, or "
                "`FLOAT[...]` for any shape{}",
                text, name, type_help(text))};
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
    SDX_TRY(check_versions(texts.opset, texts.ir_version));
    options.opset = texts.opset;
    options.ir_version = texts.ir_version;
    options.library_path = texts.library_path;
    return options;
}

Result<void> check_versions(int64_t opset, int64_t ir_version) {
    if (opset < 0 || ir_version < 0) {
        return Error{"versions are positive numbers"};
    }
    std::string problem = opset != 0 ? ops::version_problem("", opset) : std::string();
    if (problem.empty() && ir_version != 0) {
        problem = ops::ir_version_problem(ir_version);
    }
    return problem.empty() ? Result<void>() : Result<void>(Error{std::move(problem)});
}

}  // namespace sardonyx::driver
