// Operators of domains of a user's own, whose kernels are functions that the user gives: a table
// that a plan is prepared with (eval.h). What is not in it, the table of the standard has.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "eval/dispatch/dispatch.h"

namespace sardonyx::eval {

// Copies share the operators.
class CustomOperators {
  public:
    // Runs on the thread of the run, and on several where several runs go on. It gives all outputs
    // that are wanted; what it has not given is an error.
    using Function = std::function<Status(KernelContext&)>;

    // In all versions of the domain. Error: the domain is one of the standard, or the operator is
    // there already.
    Status add(std::string_view domain, std::string_view name, Function kernel);
    // Null: there is none of this name.
    const OperatorEntry* find(std::string_view domain, std::string_view name) const;

  private:
    struct Operator;

    std::vector<std::shared_ptr<const Operator>> operators_;
};

}  // namespace sardonyx::eval
