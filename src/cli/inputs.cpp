#include "cli/inputs.h"

#include <fmt/format.h>

#include "base/file.h"
#include "cli/image_input.h"
#include "driver/literal.h"
#include "elaborate/objects/object.h"
#include "types/type_meant.h"
#include "weights/npy.h"
#include "weights/weights.h"

namespace sardonyx::cli {

using eval::RuntimeValue;

namespace {

constexpr int64_t kUnknownSize = 4;
constexpr int64_t kMaxRandomElements = int64_t{1} << 28;
constexpr int64_t kIntegers = 3;  // random integers are 0 to 2: they often are indices

// SplitMix64 (Steele, Lea, Flood 2014): one number for each state.
class Generator {
  public:
    // Another sequence for each input, whatever the others are.
    Generator(uint64_t seed, const std::string& name) : state_(seed) {
        for (char c : name) {
            state_ = next() ^ static_cast<unsigned char>(c);
        }
    }
    uint64_t next() {
        state_ += 0x9e3779b97f4a7c15;
        uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // From -1 to 1.
    double next_real() { return static_cast<double>(next() >> 11) * 0x1p-52 - 1; }

  private:
    uint64_t state_;
};

Result<Tensor> random_tensor(const std::string& name, ElementType type, Dims dims, uint64_t seed) {
    std::optional<int64_t> count = element_count(dims);
    if (!count || *count > kMaxRandomElements) {
        return Error{fmt::format("input `{}`: that many random numbers do not fit", name)};
    }
    Generator generator(seed, name);
    if (is_floating(type)) {
        std::vector<double> values(static_cast<size_t>(*count));
        for (double& value : values) {
            value = generator.next_real();
        }
        return tensor_from_doubles(type, std::move(dims), values);
    }
    if (!is_integer(type) && type != ElementType::kBool) {
        return Error{fmt::format("input `{}`: there are no random numbers of {}; give a value",
                                 name, sardonyx::name(type))};
    }
    bool is_narrow = info(type).bits <= 4 || type == ElementType::kBool;
    std::vector<int64_t> values(static_cast<size_t>(*count));
    for (int64_t& value : values) {
        value = static_cast<int64_t>(generator.next() % (is_narrow ? 2 : kIntegers));
    }
    return tensor_from_int64s(type, std::move(dims), values);
}

enum class UnknownSizes : uint8_t { kRefused, kFilled };

Result<Tensor> random_of_type(const std::string& name, const Type& type, UnknownSizes unknown,
                              const RandomOptions& random) {
    if (!type.is_tensor() || type.element_type() == ElementType::kUndefined || !type.has_shape()) {
        return Error{
            fmt::format("input `{}`: random numbers need an element type and sizes, as in "
                        "`{}='rand:FLOAT[2,3]'`, and this is `{}`",
                        name, name, type.to_string())};
    }
    Dims dims;
    for (const Dim& dim : type.shape()) {
        Dim size = dim.substitute([&random](std::string_view symbol) {
            for (const auto& [given, value] : random.sizes) {
                if (given == symbol) {
                    return Dim(value);
                }
            }
            return Dim::symbol(symbol);
        });
        if (unknown == UnknownSizes::kFilled && !size.is_static()) {
            size = size.substitute([](std::string_view) { return Dim(kUnknownSize); });
            size = size.is_static() ? size : Dim(kUnknownSize);
        }
        if (!size.is_static() || size.value() < 0) {
            return Error{
                fmt::format("input `{}`: the size `{}` in `{}` is not a number; write all "
                            "sizes, as in `{}='rand:{}[2,3]'`",
                            name, dim.to_string(), type.to_string(), name,
                            sardonyx::name(type.element_type()))};
        }
        dims.push_back(size.value());
    }
    return random_tensor(name, type.element_type(), std::move(dims), random.seed);
}

Result<RuntimeValue> from_literal(const elaborate::Object& literal, const Type& declared) {
    if (literal.is_none()) {
        return RuntimeValue();
    }
    if (literal.is(elaborate::ObjectKind::kDict)) {
        return Error{"an object is not a tensor"};
    }
    if (declared.kind() != TypeKind::kSequence) {
        const Type& type = declared.kind() == TypeKind::kOptional ? declared.element() : declared;
        Result<Tensor> tensor = driver::to_tensor(literal, type.element_type());
        SDX_TRY(tensor);
        return RuntimeValue(*tensor);
    }
    if (!literal.is_sequence()) {
        return Error{"a sequence is a list of tensors"};
    }
    auto sequence = std::make_shared<eval::Sequence>();
    sequence->element_type = declared.element().element_type();
    for (const elaborate::Object& item : literal.items()) {
        Result<Tensor> tensor = driver::to_tensor(item, sequence->element_type);
        SDX_TRY(tensor);
        sequence->items.emplace_back(*tensor);
    }
    return RuntimeValue(std::shared_ptr<const eval::Sequence>(sequence));
}

Result<RuntimeValue> to_value(Result<Tensor> tensor) {
    SDX_TRY(tensor);
    return RuntimeValue(std::move(*tensor));
}

bool ends_with(const std::string& text, std::string_view end) {
    return text.size() >= end.size() &&
           text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool is_json(const std::string& path) {
    return ends_with(path, ".json");
}

Result<elaborate::Object> read_json(const std::string& path) {
    constexpr size_t kMostBytes = size_t{16} << 20U;
    Result<std::string> text = read_file(path, kMostBytes);
    SDX_TRY(text);
    // In brackets: a file may be of many lines.
    Result<elaborate::Object> value = driver::read_numbers("(" + *text + ")");
    if (!value.ok()) {
        return Error{fmt::format("`{}` is not JSON with numbers, strings and lists of them", path)};
    }
    return value;
}

// The tensor of this name, or the only one.
Result<Tensor> read_archive(const std::string& name, const std::string& path) {
    Result<weights::NamedTensors> tensors = weights::read_weights(path);
    SDX_TRY(tensors);
    std::string list;
    for (const auto& [key, tensor] : *tensors) {
        if (key == name) {
            return tensor;
        }
        list += fmt::format("{}`{}`", list.empty() ? "" : ", ", key);
    }
    if (tensors->size() != 1) {
        return Error{tensors->empty()
                         ? fmt::format("`{}` holds no arrays", path)
                         : fmt::format("`{}` holds {}, and none is `{}`", path, list, name)};
    }
    return tensors->front().second;
}

}  // namespace

Result<RuntimeValue> read_input(const std::string& name, const std::string& text,
                                const Type& declared, const RandomOptions& random) {
    constexpr std::string_view kRandom = "rand:";
    if (ends_with(text, ".npy")) {
        const Type& type = declared.kind() == TypeKind::kOptional ? declared.element() : declared;
        Result<Tensor> tensor = weights::read_npy_file(text, type.element_type());
        if (!tensor.ok()) {
            return Error{fmt::format("input `{}`: {}", name, tensor.error().message)};
        }
        return RuntimeValue(std::move(*tensor));
    }
    if (ends_with(text, ".npz")) {
        Result<Tensor> tensor = read_archive(name, text);
        if (!tensor.ok()) {
            return Error{fmt::format("input `{}`: {}", name, tensor.error().message)};
        }
        return RuntimeValue(std::move(*tensor));
    }
    if (is_json(text)) {
        Result<elaborate::Object> json = read_json(text);
        Result<RuntimeValue> value =
            json.ok() ? from_literal(*json, declared) : Result<RuntimeValue>(json.error());
        return value.ok() ? value
                          : Error{fmt::format("input `{}`: {}", name, value.error().message)};
    }
    if (is_image_file(text)) {
        const Type& type = declared.kind() == TypeKind::kOptional ? declared.element() : declared;
        Result<RuntimeValue> value = read_image(text, type);
        return value.ok() ? value
                          : Error{fmt::format("input `{}`: {}", name, value.error().message)};
    }
    if (text == "rand") {
        return to_value(random_of_type(name, declared, UnknownSizes::kRefused, random));
    }
    if (text.rfind(kRandom, 0) == 0) {
        std::optional<Type> type = parse_type(std::string_view(text).substr(kRandom.size()));
        if (!type) {
            return Error{fmt::format(
                "input `{}`: `{}` is not a type; write one as in "
                "`rand:FLOAT[2,3]`{}",
                name, text.substr(kRandom.size()), type_help(text.substr(kRandom.size())))};
        }
        return to_value(random_of_type(name, *type, UnknownSizes::kRefused, random));
    }
    bool is_text = declared.is_tensor() && declared.element_type() == ElementType::kString;
    Result<elaborate::Object> literal =
        is_text ? driver::read_literal(text) : driver::read_numbers(text);
    Result<RuntimeValue> value =
        literal.ok() ? from_literal(*literal, declared) : Result<RuntimeValue>(literal.error());
    if (!value.ok()) {
        return Error{
            fmt::format("input `{}`: {}; give a number, a list, a .npy, .npz or .json file, "
                        "a picture, or `rand:TYPE`",
                        name, value.error().message)};
    }
    return value;
}

Result<RuntimeValue> random_input(const std::string& name, const Type& declared,
                                  const RandomOptions& random) {
    return to_value(random_of_type(name, declared, UnknownSizes::kFilled, random));
}

bool is_input_file(const std::string& word) {
    return word.find('=') == std::string::npos && (ends_with(word, ".npz") || is_json(word));
}

Result<std::vector<std::pair<std::string, RuntimeValue>>> read_input_file(const std::string& path,
                                                                          const TypeOf& type_of) {
    std::vector<std::pair<std::string, RuntimeValue>> values;
    if (!is_json(path)) {
        Result<weights::NamedTensors> tensors = weights::read_weights(path);
        SDX_TRY(tensors);
        for (auto& [name, tensor] : *tensors) {
            values.emplace_back(name, std::move(tensor));
        }
        return values;
    }
    Result<elaborate::Object> json = read_json(path);
    SDX_TRY(json);
    if (!json->is(elaborate::ObjectKind::kDict)) {
        return Error{
            fmt::format("`{}` does not contain an object with a value for each input; write "
                        "`NAME={}` for one input",
                        path, path)};
    }
    for (const auto& [key, item] : json->get<elaborate::DictObject>().items) {
        std::string name = key.is(elaborate::ObjectKind::kString) ? key.text() : std::string();
        Result<RuntimeValue> value = from_literal(item, type_of(name).value_or(Type()));
        if (!value.ok()) {
            return Error{fmt::format("`{}`: input `{}`: {}", path, name, value.error().message)};
        }
        values.emplace_back(std::move(name), std::move(*value));
    }
    return values;
}

}  // namespace sardonyx::cli
