#include "eval/dispatch/custom.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "types/domain.h"

namespace sardonyx::eval {

namespace {

// A schema that takes and gives anything: the kernel knows what it wants. No schema of the standard
// is of version 0, by which check_attributes knows it.
constexpr ops::ElementMask kAll = ~ops::ElementMask{0};
constexpr ops::TypeVariable kAnything[] = {{"any", "", {kAll, kAll, kAll, kAll, true}}};
constexpr ops::Parameter kInputs[] = {{"inputs", "", ops::ParameterOption::kVariadic, false, 0, 0}};
constexpr ops::Parameter kOutputs[] = {
    {"outputs", "", ops::ParameterOption::kVariadic, false, 0, 0}};

}  // namespace

struct CustomOperators::Operator {
    // What a kernel sees as its schema, and the function with it.
    struct Schema : ops::Schema {
        Function kernel;
    };

    static Status run(KernelContext& c);

    std::string domain;
    std::string name;
    Schema schema;
    OperatorEntry entry;
};

Status CustomOperators::Operator::run(KernelContext& c) {
    SDX_TRY(static_cast<const Schema&>(c.schema()).kernel(c));
    for (size_t i = 0; i < c.output_count(); ++i) {
        if (c.result(i).is_none()) {
            return Error{
                fmt::format("its kernel has not given output {} of {}", i, c.output_count())};
        }
    }
    return {};
}

Status CustomOperators::add(std::string_view domain, std::string_view name, Function kernel) {
    domain = normal_domain(domain);
    if (ops::find_domain(domain) != nullptr) {
        return Error{
            fmt::format("the domain `{}` is the standard's: give operators of your own a "
                        "domain of your own",
                        shown_domain(domain))};
    }
    if (name.empty() || find(domain, name) != nullptr) {
        return Error{name.empty() ? "the operator has no name"
                                  : fmt::format("`{}` of the domain `{}` has a kernel already",
                                                name, domain)};
    }
    auto made = std::make_shared<Operator>();
    made->domain = domain;
    made->name = name;
    Operator::Schema& schema = made->schema;
    schema.domain = made->domain;
    schema.name = made->name;
    schema.since_version = 0;
    schema.is_deprecated = false;
    schema.is_function = false;
    schema.is_deterministic = false;  // nobody knows
    schema.minimum_inputs = schema.minimum_outputs = 0;
    schema.maximum_inputs = schema.maximum_outputs = UINT16_MAX;
    schema.inputs = kInputs;
    schema.outputs = kOutputs;
    schema.type_variables = kAnything;
    schema.kernel = std::move(kernel);
    made->entry = {&made->schema, Operator::run};
    operators_.push_back(std::move(made));
    return {};
}

const OperatorEntry* CustomOperators::find(std::string_view domain, std::string_view name) const {
    domain = normal_domain(domain);
    for (const std::shared_ptr<const Operator>& one : operators_) {
        if (one->name == name && one->domain == domain) {
            return &one->entry;
        }
    }
    return nullptr;
}

}  // namespace sardonyx::eval
