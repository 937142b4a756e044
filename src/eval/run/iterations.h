// What Loop and Scan say of their iterations, whatever runs the body: graphs of a plan
// (control_flow.cpp), and callables of eager calls (eager/control.cpp).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "eval/gradient/tape.h"
#include "eval/operators/kernel.h"

namespace sardonyx::eval {

// A condition of If and Loop; the trip count of Loop, nothing where it is left out.
Result<bool> read_condition(const RuntimeValue& value);
Result<std::optional<int64_t>> read_trip_count(const RuntimeValue& value);

// The results of the iterations, which become one tensor with a new axis.
class ScanOutput {
  public:
    Status add(RuntimeValue value, const RunOptions& options);
    // `declared` gives type and shape where no iteration has run; unknown dims are 0 then. `tape`
    // records what is made of variables; it may be null where there are none.
    Result<RuntimeValue> stacked(Tape* tape, const Type& declared, int64_t axis,
                                 bool reversed) const;

  private:
    Result<Tensor> stacked(const Type& declared, int64_t axis, bool reversed) const;
    Result<RuntimeValue> recorded(Tape& tape, const Tensor& whole, int64_t axis,
                                  bool reversed) const;
    static Result<Tensor> empty(const Type& declared, int64_t axis);

    std::vector<Tensor> items_;
    std::vector<int64_t> variables_;  // that the items are the values of
};

// The attributes of Scan, in the terms of version 9.
struct ScanShape {
    size_t state_count = 0;
    size_t scan_count = 0;
    std::vector<int64_t> input_axes;
    std::vector<bool> input_reversed;
    std::vector<int64_t> output_axes;
    std::vector<bool> output_reversed;
};
// What the attributes say of the inputs; and of as many outputs, once it is known how many.
Status read_scan_inputs(KernelContext& c, size_t input_count, ScanShape* shape);
Status read_scan_outputs(KernelContext& c, size_t output_count, ScanShape* shape);

// Element `index` along `axis`, without that axis.
Result<Tensor> slice_at(const KernelContext& c, const Tensor& source, int axis, int64_t index);

}  // namespace sardonyx::eval
