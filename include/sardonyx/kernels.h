// Kernels: operators of a domain of one's own, which functions of one's own compute.
//
// Headers alone, over sardonyx/c.h.
#pragma once

#include <sardonyx/tensor.h>

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace sardonyx {
inline namespace v1 {

// The elements of a tensor that a handle of C holds, as long as that. Error: it holds none, or one
// of STRING.
inline TensorView view_of(const sdx_value* handle) {
    sdx_view view{};
    check(sdx_value_view(handle, &view));
    return {static_cast<ElementType>(view.element_type),
            {view.dims, static_cast<size_t>(view.rank)},
            view.data,
            view.size};
}
// Error: the element type is another.
template <typename T>
std::span<const T> elements_of(const sdx_value* handle) {
    static_assert(kTypeOf<T> != ElementType::kUndefined, "use a view");
    TensorView view = view_of(handle);
    if (kTypeOf<T> != view.element_type) {
        throw Error(
            "the elements are of type " + std::to_string(static_cast<int32_t>(view.element_type)) +
            " of TensorProto.DataType, not " + std::to_string(static_cast<int32_t>(kTypeOf<T>)));
    }
    return {static_cast<const T*>(view.data), view.size / sizeof(T)};
}

// What a kernel sees of its call, and as long as that: what it keeps, it copies.
class KernelCall {
  public:
    explicit KernelCall(sdx_call* call) : call_(call) {}

    size_t input_count() const { return sdx_call_input_count(call_); }
    size_t output_count() const { return sdx_call_output_count(call_); }
    bool has_input(size_t i) const { return i < input_count() && handle(i) != nullptr; }
    // The elements of an input. Error: it is left out, no tensor, or of STRING; of another type.
    TensorView view(size_t i) const { return view_of(handle(i)); }
    template <typename T>
    std::span<const T> elements(size_t i) const {
        return elements_of<T>(handle(i));
    }
    // The input itself, for what is no tensor of numbers.
    const sdx_value* handle(size_t i) const {
        const sdx_value* value = nullptr;
        check(sdx_call_input(call_, i, &value));
        return value;
    }

    // Nothing: there is no such attribute. Error: it is of another kind.
    std::optional<int64_t> int_attribute(const std::string& name) const {
        sdx_argument a = attribute(name, SDX_ARGUMENT_INT);
        return a.kind == SDX_ARGUMENT_INT ? std::optional<int64_t>(*a.ints) : std::nullopt;
    }
    std::optional<double> float_attribute(const std::string& name) const {
        sdx_argument a = attribute(name, SDX_ARGUMENT_FLOAT);
        return a.kind == SDX_ARGUMENT_FLOAT ? std::optional<double>(*a.floats) : std::nullopt;
    }
    std::optional<std::string> string_attribute(const std::string& name) const {
        sdx_argument a = attribute(name, SDX_ARGUMENT_TEXT);
        return a.kind == SDX_ARGUMENT_TEXT ? std::optional<std::string>(*a.texts) : std::nullopt;
    }
    std::optional<std::vector<int64_t>> ints_attribute(const std::string& name) const {
        sdx_argument a = attribute(name, SDX_ARGUMENT_INTS);
        return a.kind == SDX_ARGUMENT_INTS
                   ? std::optional<std::vector<int64_t>>({a.ints, a.ints + a.count})
                   : std::nullopt;
    }
    std::optional<std::vector<double>> floats_attribute(const std::string& name) const {
        sdx_argument a = attribute(name, SDX_ARGUMENT_FLOATS);
        return a.kind == SDX_ARGUMENT_FLOATS
                   ? std::optional<std::vector<double>>({a.floats, a.floats + a.count})
                   : std::nullopt;
    }

    // All outputs must be set. The result shares the storage of the value.
    void set_output(size_t i, const RunValue& value) {
        check(sdx_call_set_output(call_, i, value.handle()));
    }

  private:
    sdx_argument attribute(const std::string& name, int32_t kind) const {
        sdx_argument found{};
        check(sdx_call_attribute(call_, name.c_str(), &found));
        if (found.kind != SDX_ARGUMENT_NOTHING && found.kind != kind) {
            throw Error("attribute `" + name + "` is of another kind");
        }
        return found;
    }

    sdx_call* call_;
};

// A table of kernels. What it runs is shared: sessions and calls keep what they need.
class Kernels {
  public:
    using Function = std::function<void(KernelCall& call)>;

    Kernels() {
        sdx_kernels* made = nullptr;
        check(sdx_kernels_new(&made));
        handle_.reset(made, sdx_kernels_free);
    }

    // The kernel of an operator, in all versions of its domain. What it throws, the run throws as
    // an Error of the node. Several threads may run it at once. Error: the domain is one of the
    // standard, the operator has a kernel already, or the function is empty.
    Kernels& add(const std::string& domain, const std::string& name, Function function) {
        if (function == nullptr) {
            throw Error("the kernel of `" + name + "` is an empty function");
        }
        auto held = std::make_unique<Function>(std::move(function));
        check(sdx_kernels_add(handle_.get(), domain.c_str(), name.c_str(), run, held.get(),
                              [](void* context) { delete static_cast<Function*>(context); }));
        static_cast<void>(held.release());
        return *this;
    }
    const sdx_kernels* handle() const { return handle_.get(); }

  private:
    static sdx_error* run(sdx_call* call, void* context) {
        try {
            KernelCall seen(call);
            (*static_cast<Function*>(context))(seen);
            return nullptr;
        } catch (const std::exception& problem) {
            return sdx_error_new(problem.what());
        } catch (...) {
            return sdx_error_new("its kernel has thrown something other than a std::exception");
        }
    }

    std::shared_ptr<sdx_kernels> handle_;
};

}  // namespace v1
}  // namespace sardonyx
