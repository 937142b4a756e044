// What Loop and Scan say of their iterations, whatever runs the body: graphs of a plan
// (control_flow.cpp), and callables of eager calls (eager/control.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "eval/gradient/tape.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// A condition of If and Loop; the trip count of Loop, nothing where it is left out.
Result<bool> read_condition(const RuntimeValue& value);
Result<std::optional<int64_t>> read_trip_count(const RuntimeValue& value);

enum class RowOrder : uint8_t { kForward, kReversed };

// The results of the iterations, which become one tensor with a new axis.
class ScanOutput {
  public:
    Status add(RuntimeValue value, const RunOptions& options);
    // `declared` gives type and shape where no iteration has run; unknown dims are 0 then. `tape`
    // records what is made of variables; it may be null where there are none.
    Result<RuntimeValue> stacked(Tape* tape, const Type& declared, int64_t axis,
                                 RowOrder order) const;

  private:
    Result<Tensor> stacked(const Type& declared, int64_t axis, RowOrder order) const;
    Result<RuntimeValue> recorded(Tape& tape, const Tensor& whole, int64_t axis,
                                  RowOrder order) const;
    static Result<Tensor> empty(const Type& declared, int64_t axis);

    std::vector<Tensor> items_;
    std::vector<int64_t> variables_;  // that the items are the values of
};

// The types of rows that look like these; none for what is no tensor.
std::vector<Type> row_types(std::span<const RuntimeValue> rows);

// The rows that iterations give, as many as the first one does.
class StackedRows {
  public:
    StackedRows() = default;
    // Rows of these types, and no iteration.
    explicit StackedRows(std::vector<Type> types)
        : outputs_(types.size()), types_(std::move(types)) {}

    size_t size() const { return outputs_.size(); }
    // The results of an iteration, of which those from `first` on are rows.
    Status add(std::span<RuntimeValue> results, size_t first, const RunOptions& options);
    Result<RuntimeValue> stacked(Tape* tape, size_t i, int64_t axis, RowOrder order) const;

  private:
    std::vector<ScanOutput> outputs_;
    std::vector<Type> types_;  // where there is no iteration
};

}  // namespace sardonyx::eval
