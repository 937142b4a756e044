// Operators that run at once: eager::Opset(21).call("Add", {a, 1}).
//
// Headers alone, over sardonyx/c.h.
#pragma once

#include <sardonyx/kernels.h>
#include <sardonyx/session.h>
#include <sardonyx/tensor.h>

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sardonyx {
inline namespace v1 {
namespace eager {

// An input or an attribute: a value, or a number, a text or a list of them, which as an input takes
// the element type of the tensors beside it.
class Argument {
  public:
    Argument() = default;  // left out
    Argument(RunValue value)
        : kind_(value.is_nothing() ? SDX_ARGUMENT_NOTHING : SDX_ARGUMENT_VALUE),
          value_(std::move(value)) {}
    Argument(const Tensor& tensor) : Argument(RunValue(tensor)) {}
    // Error: it is past int64.
    template <std::integral T>
    Argument(T number) : kind_(SDX_ARGUMENT_INT), ints_{static_cast<int64_t>(number)} {
        if (std::is_unsigned_v<T> && ints_[0] < 0) {
            throw Error("the number " + std::to_string(static_cast<uint64_t>(number)) +
                        " is past int64: give it as a Tensor");
        }
    }
    template <std::floating_point T>
    Argument(T number) : kind_(SDX_ARGUMENT_FLOAT), floats_{static_cast<double>(number)} {}
    Argument(ElementType type) : Argument(static_cast<int64_t>(type)) {}
    Argument(std::string text) : kind_(SDX_ARGUMENT_TEXT), texts_{std::move(text)} {}
    Argument(const char* text) : Argument(std::string(text)) {}
    Argument(std::vector<int64_t> numbers) : kind_(SDX_ARGUMENT_INTS), ints_(std::move(numbers)) {}
    Argument(std::vector<double> numbers)
        : kind_(SDX_ARGUMENT_FLOATS), floats_(std::move(numbers)) {}
    Argument(std::vector<std::string> texts)
        : kind_(SDX_ARGUMENT_TEXTS), texts_(std::move(texts)) {}

    // Valid as long as this argument; `pointers` holds what texts need. Error: a text has a zero
    // byte, where it would end.
    sdx_argument to_c(const char* name, std::vector<const char*>& pointers) const {
        for (const std::string& text : texts_) {
            if (text.find('\0') != std::string::npos) {
                throw Error("a text has a zero byte: give it as a Tensor of strings");
            }
            pointers.push_back(text.c_str());
        }
        size_t count = ints_.size() + floats_.size() + texts_.size();
        return {name, kind_, value_.handle(), ints_.data(), floats_.data(), pointers.data(), count};
    }

  private:
    int32_t kind_ = SDX_ARGUMENT_NOTHING;
    RunValue value_;
    std::vector<int64_t> ints_;
    std::vector<double> floats_;
    std::vector<std::string> texts_;
};

// An attribute, or an input by its name.
struct Keyword {
    std::string name;
    Argument value;
};

// The operators of a version of a domain.
class Opset {
  public:
    explicit Opset(int64_t version, std::string domain = "")
        : version_(version), domain_(std::move(domain)) {}

    // These kernels first, whatever the version.
    Opset& use(Kernels kernels) {
        kernels_ = std::move(kernels);
        return *this;
    }

    // Evaluates an operator: its first result. Error: there is no such operator, or the arguments
    // are none of its.
    RunValue call(const std::string& name, std::initializer_list<Argument> inputs,
                  std::initializer_list<Keyword> keywords = {},
                  const RunOptions& options = {}) const {
        return call(name, {inputs.begin(), inputs.size()}, {keywords.begin(), keywords.size()}, 1,
                    options)[0];
    }
    // So many results.
    std::vector<RunValue> call(const std::string& name, std::span<const Argument> inputs,
                               std::span<const Keyword> keywords, size_t output_count,
                               const RunOptions& options = {}) const {
        std::vector<sdx_argument> arguments;
        std::vector<std::vector<const char*>> texts(inputs.size() + keywords.size());
        for (const Argument& input : inputs) {
            arguments.push_back(input.to_c(nullptr, texts[arguments.size()]));
        }
        for (const Keyword& keyword : keywords) {
            arguments.push_back(keyword.value.to_c(keyword.name.c_str(), texts[arguments.size()]));
        }
        sdx_run_options chosen = to_c(options);
        sdx_limits limits = limits_of(options);
        std::vector<sdx_value*> made(output_count, nullptr);
        check(sdx_evaluate(domain_.c_str(), version_, name.c_str(), arguments.data(),
                           arguments.size(), kernels_ ? kernels_->handle() : nullptr, &chosen,
                           &limits, made.data(), made.size()));
        std::vector<RunValue> results;
        results.reserve(made.size());
        for (sdx_value* value : made) {
            results.emplace_back(value);
        }
        return results;
    }

  private:
    int64_t version_;
    std::string domain_;
    std::optional<Kernels> kernels_;
};

}  // namespace eager
}  // namespace v1
}  // namespace sardonyx
