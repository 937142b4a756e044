// What a kernel sees of its call.
//
// A kernel is a pure function `Status name(KernelContext&)`; kernels.def has one row for it. Before
// a kernel runs, the caller has checked the call against the operator's schema (check_call.h): the
// number of inputs, that required inputs are there, kinds, element types, and that inputs of one
// type variable agree. Attributes are of the right type. So a kernel checks shapes and values only.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "eval/operators/input_set.h"
#include "eval/runtime/parallel.h"
#include "eval/runtime/run_options.h"
#include "eval/runtime/value.h"
#include "ir/ir.h"
#include "ops/ops.h"

namespace sardonyx::eval {

using Status = Result<void>;

// Values for the attribute parameters of the function that is running; `value` is no reference.
struct Binding {
    std::string_view name;
    const ir::Attribute* value = nullptr;
};

// The attributes of one call, with references to function parameters resolved.
class AttributeView {
  public:
    AttributeView() = default;
    AttributeView(std::span<const ir::Attribute> attributes, std::span<const Binding> bindings)
        : attributes_(attributes), bindings_(bindings) {}

    // Null when it is absent, or a reference to a parameter that the call left out.
    const ir::Attribute* find(std::string_view name) const;
    const ir::Attribute* resolve(const ir::Attribute& attribute) const;
    std::span<const ir::Attribute> all() const { return attributes_; }

  private:
    std::span<const ir::Attribute> attributes_;
    std::span<const Binding> bindings_;
};

// Where random operators without a `seed` attribute start: the same numbers in every run.
struct RandomState {
    uint64_t counter = 0;
};

// What the kernel of one node keeps between the runs of a plan: its constant inputs, or what its
// attributes say, as its loops want them. A kernel keeps one type of object. Several threads may
// run the plan at once; what one of them keeps replaces what another has kept.
class NodeCache {
  public:
    std::shared_ptr<const void> get() const { return std::atomic_load(&object_); }
    void set(std::shared_ptr<const void> object) { std::atomic_store(&object_, std::move(object)); }

  private:
    std::shared_ptr<const void> object_;
};

inline Workers workers_of(const RunOptions& options) {
    return {thread_count(options.threads), options.interrupt};
}
// The error of a run that shall end; nothing while it goes on.
inline Status check_interrupt(const RunOptions& options) {
    if (options.interrupt != nullptr && options.interrupt->poll()) [[unlikely]] {
        return options.interrupt->error();
    }
    return {};
}
// Whether a run has been asked to end.
inline bool is_stopped(const RunOptions& options) {
    return options.interrupt != nullptr && options.interrupt->is_stopped();
}
// What `run()` gives: the error of a run that was stopped, in place of all that came of it.
template <typename Run>
auto unless_stopped(const RunOptions& options, const Run& run) {
    auto result = run();
    if (is_stopped(options)) [[unlikely]] {
        result = options.interrupt->error();
    }
    return result;  // not moved: that costs a small kernel something
}

// Which inputs of a node, and whether output 0, have their channels innermost.
struct ChannelsLast {
    InputSet inputs;
    bool result = false;

    bool is_empty() const { return inputs.is_empty() && !result; }
};

class KernelContext {
  public:
    KernelContext(const ops::Schema& schema, std::span<const RuntimeValue* const> inputs,
                  AttributeView attributes, std::span<RuntimeValue> outputs,
                  const RunOptions& options, RandomState& random)
        : schema_(schema),
          inputs_(inputs),
          attributes_(attributes),
          outputs_(outputs),
          options_(options),
          random_(random) {}

    const ops::Schema& schema() const { return schema_; }
    // The version that introduced the definition in force.
    int version() const { return schema_.since_version; }
    const RunOptions& options() const { return options_; }
    RandomState& random() { return random_; }
    Workers threads() const { return workers_of(options_); }

    // --- Inputs.
    size_t input_count() const { return inputs_.size(); }
    bool has_input(size_t i) const { return i < inputs_.size() && !inputs_[i]->is_none(); }
    // Nothing (is_none) for an input that is left out.
    const RuntimeValue& value(size_t i) const;
    const Tensor& tensor(size_t i) const { return value(i).tensor(); }
    ElementType type(size_t i) const { return tensor(i).element_type(); }
    const Dims& dims(size_t i) const { return tensor(i).dims(); }
    int rank(size_t i) const { return tensor(i).rank(); }
    // Whether a tensor among the inputs has elements below 8 bits.
    bool has_packed_input() const;
    std::span<const RuntimeValue* const> inputs() const { return inputs_; }
    // The elements of an integer tensor of rank 0 or 1 ("shape", "axes").
    Result<std::vector<int64_t>> ints(size_t i) const;
    // The one element of a tensor.
    Result<int64_t> int_scalar(size_t i) const;
    Result<double> real_scalar(size_t i) const;

    // --- Attributes: the schema's default where the call has none.
    const ir::Attribute* find_attribute(std::string_view name) const {
        return attributes_.find(name);
    }
    bool has_attribute(std::string_view name) const { return find_attribute(name) != nullptr; }
    AttributeView attributes() const { return attributes_; }
    // `otherwise` (lists: empty) when there is neither a value nor a default.
    int64_t int_attribute(std::string_view name, int64_t otherwise = 0) const;
    float float_attribute(std::string_view name, float otherwise = 0) const;
    std::string_view string_attribute(std::string_view name) const;
    std::span<const int64_t> ints_attribute(std::string_view name) const;
    std::span<const float> floats_attribute(std::string_view name) const;
    std::span<const std::string> strings_attribute(std::string_view name) const;
    const Tensor* tensor_attribute(std::string_view name) const;

    // --- Outputs.
    std::span<RuntimeValue> outputs() { return outputs_; }
    bool wants(size_t i) const { return i < outputs_.size(); }
    size_t output_count() const { return outputs_.size(); }
    // New storage for output `i`, its elements indeterminate; or the place that the caller has set
    // for it, where that has this type and shape. Error: beyond the limit of bytes.
    Result<Tensor*> output(size_t i, ElementType type, Dims dims);
    // The same, but the storage of input `in` where that may be overwritten and no place is set.
    // For kernels that read element i no later than they write element i.
    Result<Tensor*> output_over(size_t in, size_t i, ElementType type, const Dims& dims);
    // Whether input `in` has this type and shape and nobody needs it after this call.
    bool may_overwrite(size_t in, ElementType type, const Dims& dims) const;
    // The sequence of input `in` to be changed: its own where nobody needs it after this call, so
    // that a loop which grows one takes no copy in each iteration; else a copy.
    std::shared_ptr<Sequence> changeable_sequence(size_t in) const;
    // The inputs that die with this call.
    void set_dying(InputSet inputs) { dying_ = inputs; }
    // Where output 0 is wanted; a kernel may put it elsewhere all the same.
    void set_place(Tensor place) {
        outputs_[0] = std::move(place);
        has_place_ = true;
    }
    // The same for a value that the kernel keeps to itself.
    Result<Tensor> scratch(ElementType type, Dims dims) const;
    void set_output(size_t i, RuntimeValue value) { outputs_[i] = std::move(value); }
    const RuntimeValue& result(size_t i) const { return outputs_[i]; }

    // --- What is the same in every run of a plan; nothing outside of one.
    // Whether input `i` is.
    bool is_constant(size_t i) const { return constants_.contains(i); }
    // Whether the attributes are, none of which then is a parameter of a function.
    bool has_constant_attributes() const { return has_constant_attributes_; }
    // `inputs` are; `cache` lives as long as the plan.
    void set_constants(InputSet inputs, bool has_constant_attributes, NodeCache* cache) {
        constants_ = inputs;
        has_constant_attributes_ = has_constant_attributes;
        cache_ = cache;
    }
    // What this kernel has kept; null: nothing.
    template <typename T>
    std::shared_ptr<const T> kept() const {
        return cache_ == nullptr ? nullptr : std::static_pointer_cast<const T>(cache_->get());
    }
    template <typename T>
    void keep(std::shared_ptr<const T> object) const {
        if (cache_ != nullptr && !threads().are_stopped()) {
            cache_->set(std::move(object));
        }
    }

    // --- The order of axes: where the plan says so (layout.h), an input or output 0 is [n, place
    // ..., channel] in place of [n, channel, place ...]. A kernel that cannot do it fails before it
    // changes anything, and is called again without.
    void set_channels_last(const ChannelsLast& places) { channels_last_ = places; }
    bool is_channels_last(size_t i) const { return channels_last_.inputs.contains(i); }
    bool wants_channels_last() const { return channels_last_.result; }

    // --- Axes.
    // An axis of [-rank, rank) as [0, rank).
    Result<int> axis(int64_t axis, int rank) const;
    // Several, sorted, each once.
    Result<std::vector<int>> axes(std::span<const int64_t> axes, int rank) const;

  private:
    bool may_fill_place(size_t i, ElementType type, const Dims& dims) const;

    const ops::Schema& schema_;
    std::span<const RuntimeValue* const> inputs_;
    AttributeView attributes_;
    std::span<RuntimeValue> outputs_;
    const RunOptions& options_;
    RandomState& random_;
    InputSet dying_;
    InputSet constants_;
    NodeCache* cache_ = nullptr;
    ChannelsLast channels_last_;
    bool has_place_ = false;
    bool has_constant_attributes_ = false;
};

// What a kernel makes of its attributes: kept from an earlier run of the plan where `fits(kept)`,
// else made by `make()`, a Result<T>, and kept where all runs have these attributes.
template <typename T, typename Fits, typename Make>
Result<std::shared_ptr<const T>> of_attributes(const KernelContext& c, Fits fits, Make make) {
    bool is_kept = c.has_constant_attributes();
    std::shared_ptr<const T> kept = is_kept ? c.kept<T>() : nullptr;
    if (kept != nullptr && fits(*kept)) {
        return kept;
    }
    SDX_ASSIGN(T made, make());
    kept = std::make_shared<const T>(std::move(made));
    if (is_kept) {
        c.keep(kept);
    }
    return kept;
}

// A list that older versions give as an attribute and newer ones as input `i` ("axes", "shape").
// Nothing where it is left out.
Result<std::optional<std::vector<int64_t>>> list_argument(const KernelContext& c,
                                                          std::string_view name, size_t i);

using Kernel = Status (*)(KernelContext&);

// Shape products: an error where one is negative, overflows, or needs more bytes than allowed.
Status check_size(ElementType type, std::span<const int64_t> dims, const RunOptions& options);

std::string to_string(std::span<const int64_t> dims);  // "[2,3]"

}  // namespace sardonyx::eval
