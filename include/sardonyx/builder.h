// Builder: a model made call by call. Each node is typed as it is made; a call that is wrong throws
// at its line, and leaves nothing behind.
//
//     sardonyx::Builder b(20);
//     sardonyx::Expr x = b.input("x", "FLOAT[N,4]");
//     b.output(op20::Softmax(x * 2.0, {.axis = -1}), "y");
//     sardonyx::Model model = b.model();
//
// The functions of operators are in <sardonyx/op20.h> and its like, one header for each opset.
#pragma once

#include <sardonyx/array.h>
#include <sardonyx/export.h>
#include <sardonyx/model.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sardonyx {
inline namespace v1 {

struct BuilderState;  // of the implementation

// A value of a Builder, as long as that lives. One that is made by `{}` stands for an input that is
// left out.
class SDX_API Expr {
  public:
    Expr() = default;
    bool is_given() const { return value_ != nullptr; }
    std::string name() const;
    std::string type() const;  // "FLOAT[N, 4]"; "?": nothing is known

    Expr(BuilderState* state, void* value) : state_(state), value_(value) {}
    BuilderState* state() const { return state_; }
    void* value() const { return value_; }

  private:
    BuilderState* state_ = nullptr;
    void* value_ = nullptr;
};

// Python's operators as a script has them: `//` and `%` round down.
SDX_API Expr binary(std::string_view symbol, const Expr& a, const Expr& b);
// A number takes the element type of what stands beside it.
SDX_API Expr binary(std::string_view symbol, const Expr& a, double b);
SDX_API Expr binary(std::string_view symbol, double a, const Expr& b);
SDX_API Expr operator-(const Expr& a);

// An int as the double that it is. Error: it has more than 53 bits.
SDX_API double exact_double(uint64_t magnitude, bool is_negative);
template <std::integral T>
double exact_double(T number) {
    auto bits = static_cast<uint64_t>(number);
    bool is_negative = std::is_signed_v<T> && static_cast<int64_t>(bits) < 0;
    return exact_double(is_negative ? 0 - bits : bits, is_negative);
}

#define SDX_BUILDER_OPERATOR(symbol)                            \
    inline Expr operator symbol(const Expr& a, const Expr& b) { \
        return binary(#symbol, a, b);                           \
    }                                                           \
    inline Expr operator symbol(const Expr& a, double b) {      \
        return binary(#symbol, a, b);                           \
    }                                                           \
    inline Expr operator symbol(double a, const Expr& b) {      \
        return binary(#symbol, a, b);                           \
    }                                                           \
    template <std::integral T>                                  \
    Expr operator symbol(const Expr& a, T b) {                  \
        return binary(#symbol, a, exact_double(b));             \
    }                                                           \
    template <std::integral T>                                  \
    Expr operator symbol(T a, const Expr& b) {                  \
        return binary(#symbol, exact_double(a), b);             \
    }
SDX_BUILDER_OPERATOR(+)
SDX_BUILDER_OPERATOR(-)
SDX_BUILDER_OPERATOR(*)
SDX_BUILDER_OPERATOR(/)
SDX_BUILDER_OPERATOR(<)
SDX_BUILDER_OPERATOR(<=)
SDX_BUILDER_OPERATOR(>)
SDX_BUILDER_OPERATOR(>=)
#undef SDX_BUILDER_OPERATOR

using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>,
                                    std::vector<float>, std::vector<std::string>, Array>;

struct Call {
    std::string domain = {};  // empty: ai.onnx
    std::string op_type = {};
    int64_t version = 0;  // of the domain; 0: that of the model
    std::vector<Expr> inputs = {};
    std::vector<std::pair<std::string, AttributeValue>> attributes = {};
    size_t outputs = 1;
    std::string name = {};  // of the node

    // Adds an attribute that is given.
    template <typename T>
    void attribute(std::string attribute_name, const std::optional<T>& given) {
        if (given.has_value()) {
            attributes.emplace_back(std::move(attribute_name), AttributeValue(*given));
        }
    }
    void attribute(std::string attribute_name, const AttributeValue& given) {
        attributes.emplace_back(std::move(attribute_name), given);
    }
};

class SDX_API Builder {
  public:
    // `opset`: the version of ai.onnx. Error: there is none of this number.
    explicit Builder(int64_t opset, const std::string& name = "graph");
    ~Builder();
    Builder(const Builder&) = delete;
    Builder& operator=(const Builder&) = delete;

    // Error: text that is no type, a name that is taken.
    Expr input(const std::string& name, std::string_view type);
    // A weight; a name is made where none is given.
    Expr initializer(const Array& array, const std::string& name = {});
    Expr constant(const Array& array);
    Expr constant(std::initializer_list<int64_t> numbers) {  // of rank 1
        return constant(Array::of<int64_t>({static_cast<int64_t>(numbers.size())}, numbers));
    }
    // Makes a value the next output of the model. `type`: what is known of it beyond its own type,
    // as of a result of an operator that nobody knows. Error: it has another type.
    Expr output(const Expr& value, const std::string& name = {}, std::string_view type = {});

    // A node by the names of its operator and attributes.
    std::vector<Expr> call(const Call& call);

    // Bodies make nodes that see what is around them. Both branches give as many values.
    using Body = std::function<std::vector<Expr>()>;
    // NOLINTNEXTLINE(readability-identifier-naming): `if` is taken
    std::vector<Expr> if_(const Expr& condition, const Body& then_body, const Body& else_body);

    struct Step {
        std::vector<Expr> next = {};     // the carried values, as the next iteration gets them
        std::vector<Expr> stacked = {};  // gathered from all iterations
        Expr condition = {};             // goes on while it holds; left out: always
    };
    using LoopBody = std::function<Step(const Expr& index, const std::vector<Expr>& carried)>;
    // `count` iterations, or without a limit where it is left out. `types` hold for the carried
    // values in all iterations, where those of the first ones do not ("": they do). Gives what is
    // carried out of the last iteration, then what is stacked.
    std::vector<Expr> loop(const Expr& count, const std::vector<Expr>& carried,
                           const LoopBody& body, const std::vector<std::string>& types = {},
                           const Expr& condition = {});

    // The model, as it is now. Error: it has no outputs.
    Model model() const;

  private:
    std::unique_ptr<BuilderState> state_;
};

// A call in the Builder of its inputs: for the functions of operators.
SDX_API std::vector<Expr> call_of(const Call& call);

}  // namespace v1
}  // namespace sardonyx
