#include "elaborate/objects/shown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "elaborate/objects/array_math.h"
#include "elaborate/objects/arrays.h"
#include "elaborate/objects/dict_classes.h"
#include "elaborate/objects/environment.h"
#include "elaborate/objects/exception_types.h"
#include "elaborate/objects/iteration.h"
#include "elaborate/objects/namespaces.h"
#include "elaborate/objects/statics.h"
#include "elaborate/objects/type_objects.h"
#include "types/numpy_names.h"

namespace sardonyx::elaborate {

namespace {

constexpr int kDeepestShown = 60;
constexpr std::string_view kRepr = "__repr__";

struct Block {
    uint32_t first, last;
};

// Code points that every Python shows as they are: assigned for long, and printable. Of others it
// depends on the version of Unicode.
constexpr Block kPrintable[] = {
    {0xa1, 0xac},     {0xae, 0x220},      {0x250, 0x2ad},    {0x300, 0x34f},   {0x391, 0x3a1},
    {0x3a3, 0x3ce},   {0x400, 0x486},     {0x5d0, 0x5ea},    {0x621, 0x63a},   {0x905, 0x939},
    {0x1e00, 0x1e9b}, {0x1ea0, 0x1ef9},   {0x2010, 0x2027},  {0x2030, 0x2052}, {0x2190, 0x23ce},
    {0x2500, 0x2613}, {0x3041, 0x3096},   {0x3099, 0x30ff},  {0x4e00, 0x9fa5}, {0xac00, 0xd7a3},
    {0xff01, 0xffbe}, {0x1d400, 0x1d454}, {0x1f600, 0x1f64f}};

// Of a well-formed sequence.
uint32_t code_point(std::string_view sequence) {
    constexpr uint32_t kFirst[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = static_cast<unsigned char>(sequence[0]) & kFirst[sequence.size()];
    for (char ch : sequence.substr(1)) {
        code = code << 6 | (static_cast<unsigned char>(ch) & 0x3f);
    }
    return code;
}

class Shower {
  public:
    Shower(Context& c, std::string& reason, bool only_ascii, syntax::Range range)
        : c_(c), reason_(reason), only_ascii_(only_ascii), range_(range) {}

    std::optional<std::string> str(const Object& object) {
        if (is_shown_by_environment(object)) {
            return of_environment(object, "str");
        }
        if (object.is(ObjectKind::kString) && object.shown_as() == ShownAs::kPlain) {
            return object.text();
        }
        if (object.is(ObjectKind::kElementType) && object.type_form() == TypeForm::kNumpyDtype) {
            return numpy_type(object, "{}");
        }
        if (Namespace* member = as_member(object);
            member != nullptr && !is_shown_by_value(object)) {
            return member->name;
        }
        if (std::optional<Object> method = special_method(object, "__str__")) {
            return asked(object, *method, "__str__");
        }
        if (ExceptionType type = exception_of(object); !type.builtin.empty()) {
            return exception(type);
        }
        bool differs_in_repr =
            object.shown_as() == ShownAs::kNumpy || object.shown_as() == ShownAs::kMember;
        if (differs_in_repr && object.is(ObjectKind::kString)) {
            return object.text();
        }
        if (differs_in_repr && object.is_whole()) {
            return object.is(ObjectKind::kBool) ? (object.as_bool() ? "True" : "False")
                                                : to_string(object.as_whole());
        }
        if (differs_in_repr && is_array_scalar(object)) {
            return scalar(object.get<Tensor>());
        }
        return repr(differs_in_repr ? object.shown(ShownAs::kPlain) : object);
    }

    std::optional<std::string> repr(const Object& object, int depth = 0) {
        if (depth > kDeepestShown) {
            return unknown("lists that hold each other, or stand too deep in each other,");
        }
        if (is_shown_by_environment(object)) {
            return of_environment(object, only_ascii_ ? "ascii" : "repr");
        }
        if (as_member(object) != nullptr) {
            return instance(object, depth);
        }
        if (object.shown_as() != ShownAs::kPlain) {
            return unknown(object.shown_as() == ShownAs::kNumpy
                               ? "a number of NumPy in `repr`, which depends on its version,"
                           : object.shown_as() == ShownAs::kMember
                               ? "a member of an enumeration in `repr`"
                               : "an instance of a class that is derived from a builtin one");
        }
        if (object.is(ObjectKind::kDict) && object.get<DictObject>().of != DictClass::kDict) {
            return unknown(fmt::format("a `{}`", class_name(object.get<DictObject>())));
        }
        switch (object.kind()) {
            case ObjectKind::kNone:
                return "None";
            case ObjectKind::kEllipsis:
                return "Ellipsis";
            case ObjectKind::kBool:
                return object.as_bool() ? "True" : "False";
            case ObjectKind::kInt:
            case ObjectKind::kWideInt:
                return to_string(object.as_whole());
            case ObjectKind::kFloat:
                return shown_float(object.as_double());
            case ObjectKind::kString:
                return text(object.text());
            case ObjectKind::kBytes:
                return bytes(object.text());
            case ObjectKind::kTuple:
                if (object.tuple_class() != nullptr) {
                    return fields(*object.tuple_class(), object.items(), depth);
                }
                return items(object.items(), "(", object.items().size() == 1 ? ",)" : ")", depth);
            case ObjectKind::kList:
                return items(object.items(), "[", "]", depth);
            case ObjectKind::kDict:
                return dict(object.get<DictObject>(), depth);
            case ObjectKind::kSet:
                return set(object, depth);
            case ObjectKind::kRange: {
                const RangeObject& range = object.get<RangeObject>();
                return range.step == 1
                           ? fmt::format("range({}, {})", range.start, range.stop)
                           : fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
            }
            case ObjectKind::kSlice: {
                const SliceObject& slice = object.get<SliceObject>();
                return items({slice.lower, slice.upper, slice.step}, "slice(", ")", depth);
            }
            case ObjectKind::kElementType:
                return element_type(object);
            case ObjectKind::kType: {
                const TypeObject& type = object.get<TypeObject>();
                return type.explicit_shape || !type.type.is_tensor()
                           ? unknown("an annotation with a shape")
                           : std::optional(std::string(name(type.type.element_type())));
            }
            case ObjectKind::kPythonType:
                return python_type(object);
            case ObjectKind::kModule:
                return instance(object, depth);
            case ObjectKind::kConstant:
                return unknown("an array");
            default:
                return unknown(std::string(kind_name(object)));
        }
    }

  private:
    // Of a float: the shortest decimal number that is this one in its own type. From which size on
    // it has an exponent depends on the version of NumPy: 10^6 or 10^16 of FLOAT, 10^3 or 10^16 of
    // FLOAT16, and 0.0001 rounded to the type or not.
    std::optional<std::string> scalar(const Tensor& one) {
        if (!is_floating(one.element_type())) {
            return str(element_of(one, 0));
        }
        constexpr int kMostDigits = 17;
        double value = element_of(one, 0).as_double(), decimal = value;
        double size = std::fabs(value),
               most = one.element_type() == ElementType::kFloat ? 1e6 : 1e3;
        if ((size >= most && size < 1e16) || (size >= 9e-5 && size < 2e-4)) {
            return unknown("a float of NumPy of this size, which depends on its version,");
        }
        for (int digits = 0; digits < kMostDigits; ++digits) {
            decimal = std::strtod(fmt::format("{:.{}e}", value, digits).c_str(), nullptr);
            std::optional<Tensor> back =
                cast_array(Tensor::scalar<double>(decimal), one.element_type());
            if (back && std::ranges::equal(back->bytes(), one.bytes())) {
                break;
            }
        }
        return shown_float(decimal);
    }

    std::nullopt_t unknown(std::string what) {
        reason_ = std::move(what);
        return std::nullopt;
    }

    std::optional<std::string> of_environment(const Object& object, std::string_view how) {
        Environment::Answer answer = c_.function().environment->text_of(object, how, "");
        if (answer.value) {
            return answer.value->text();
        }
        return unknown(fmt::format("{}{}{}", kind_name(object), answer.error.empty() ? "" : ": ",
                                   answer.error));
    }

    std::optional<std::string> text(std::string_view text) {
        bool is_double =
            text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
        const char quote = is_double ? '"' : '\'';
        std::string result(1, quote);
        while (!text.empty()) {
            size_t length = utf8_sequence_length(text);
            if (length == 0) {
                return unknown("a string with surrogates");
            }
            std::string_view one = text.substr(0, length);
            text.remove_prefix(length);
            uint32_t code = code_point(one);
            if (length == 1) {
                result += escaped(one[0], quote);
                continue;
            }
            bool is_printable = std::any_of(
                std::begin(kPrintable), std::end(kPrintable),
                [code](const Block& block) { return code >= block.first && code <= block.last; });
            if (code <= 0xa0 || code == 0xad || only_ascii_) {
                result += code <= 0xff     ? fmt::format("\\x{:02x}", code)
                          : code <= 0xffff ? fmt::format("\\u{:04x}", code)
                                           : fmt::format("\\U{:08x}", code);
            } else if (is_printable) {
                result += one;
            } else {
                return unknown(fmt::format("the character U+{:04X} in `repr`", code));
            }
        }
        return result + quote;
    }

    // Of a byte below 0x80.
    static std::string escaped(char ch, char quote) {
        switch (ch) {
            case '\t':
                return "\\t";
            case '\n':
                return "\\n";
            case '\r':
                return "\\r";
            case '\\':
                return "\\\\";
            default:
                break;
        }
        auto byte = static_cast<unsigned char>(ch);
        return byte < 0x20 || byte >= 0x7f ? fmt::format("\\x{:02x}", byte)
               : ch == quote               ? std::string("\\") + ch
                                           : std::string(1, ch);
    }

    static std::string bytes(std::string_view text) {
        bool is_double =
            text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos;
        const char quote = is_double ? '"' : '\'';
        std::string result = std::string("b") + quote;
        for (char ch : text) {
            result += escaped(ch, quote);
        }
        return result + quote;
    }

    bool add(std::string& result, const Object& item, int depth) {
        std::optional<std::string> one = repr(item, depth + 1);
        if (!one) {
            return false;
        }
        result += *one;
        if (static_cast<int64_t>(result.size()) > c_.options.limits.text_bytes) {
            reason_ = "a text that grows too long";
            return false;
        }
        return true;
    }

    std::optional<std::string> items(const std::vector<Object>& items, std::string_view before,
                                     std::string_view after, int depth) {
        std::string result(before);
        for (size_t i = 0; i < items.size(); ++i) {
            result += i == 0 ? "" : ", ";
            if (!add(result, items[i], depth)) {
                return std::nullopt;
            }
        }
        return result.append(after);
    }

    std::optional<std::string> dict(const DictObject& dict, int depth) {
        std::string result = "{";
        for (const auto& [key, value] : dict.items) {
            result += result.size() == 1 ? "" : ", ";
            if (!add(result, key, depth)) {
                return std::nullopt;
            }
            result += ": ";
            if (!add(result, value, depth)) {
                return std::nullopt;
            }
        }
        return result + "}";
    }

    std::optional<std::string> set(const Object& set, int depth) {
        if (set.items().size() > 1) {
            return unknown("a set, which has no order,");
        }
        if (set.items().empty()) {
            return set.is_frozen() ? "frozenset()" : "set()";
        }
        return set.is_frozen() ? items(set.items(), "frozenset({", "})", depth)
                               : items(set.items(), "{", "}", depth);
    }

    std::optional<std::string> numpy_type(const Object& object, const char* format) {
        ElementType type = object.as_element_type();
        std::string_view numpy = numpy_name(type);
        bool is_numpys = type == ElementType::kBool || type == ElementType::kFloat16 ||
                         type == ElementType::kFloat || type == ElementType::kDouble ||
                         is_integer(type);
        bool is_old = numpy.find("int4") != std::string_view::npos ||
                      numpy.find("int2") != std::string_view::npos;
        return is_numpys && !is_old && !numpy.empty()
                   ? std::optional(fmt::format(fmt::runtime(format), numpy))
                   : unknown("this type of NumPy");
    }

    // FLOAT; <class 'numpy.float32'>; dtype('float32').
    std::optional<std::string> element_type(const Object& object) {
        if (object.is_type_number()) {
            return std::string(name(object.as_element_type()));
        }
        if (object.type_form() == TypeForm::kNumpyDtype) {
            return numpy_type(object, "dtype('{}')");
        }
        // NumPy 1 and 2 name its class differently.
        return object.as_element_type() == ElementType::kBool
                   ? unknown("`np.bool_`")
                   : numpy_type(object, "<class 'numpy.{}'>");
    }

    std::optional<std::string> python_type(const Object& object) {
        const PythonType& type = object.get<PythonType>();
        bool is_builtin =
            is_builtin_type(type.name) || type.name == kNoneType || is_exception_type(type.name);
        return is_builtin && type.arguments.empty()
                   ? std::optional(fmt::format("<class '{}'>", type.name))
                   : unknown(fmt::format("the type `{}`", type.name));
    }

    // What the class itself says.
    std::optional<std::string> asked(const Object& object, const Object& method,
                                     std::string_view name) {
        Object text = asked_text(c_, object, method, name, range_);
        reason_.clear();  // it has been reported
        if (text.is_error()) {
            return std::nullopt;
        }
        if (!only_ascii_) {
            return text.text();
        }
        return unknown(fmt::format("an instance with `{}` in `ascii`", name));
    }

    static const std::vector<Object>& args_of(const Namespace& exception) {
        return exception.find_own(kArgs)->items();
    }

    // What `str` gives of an exception: its argument, or all of them if it has not one.
    std::optional<std::string> exception(const ExceptionType& type) {
        const std::vector<Object>& held = args_of(*as_namespace(type.instance));
        if (held.size() > 1) {
            return repr(Object::tuple(held));
        }
        return held.empty()                      ? std::string()
               : is_subclass(type, {"KeyError"}) ? repr(held[0])
                                                 : str(held[0]);
    }

    // A member of an enumeration, an instance of a class.
    std::optional<std::string> instance(const Object& object, int depth) {
        if (Namespace* member = as_member(object)) {
            std::optional<Object> value = member->lookup("value");
            std::string result = fmt::format("<{}: ", member->name);
            if (!value) {
                return unknown(fmt::format("`{}`", member->name));
            }
            return add(result, *value, depth) ? std::optional(result + ">") : std::nullopt;
        }
        Namespace* found = as_namespace(object);
        bool is_instance = found != nullptr && found->kind == Namespace::Kind::kInstance &&
                           found->of != nullptr && found->unknown_all == nullptr;
        bool is_data = is_instance && found->of->kind == Namespace::Kind::kDataclass;
        // `dataclass` gives a class a method of its own, in place of an inherited one.
        std::optional<Object> method = is_data
                                           ? const_cast<Namespace*>(found->of)->lookup_own(kRepr)
                                           : special_method(object, kRepr);
        if (method) {
            return asked(object, *method, kRepr);
        }
        if (is_instance && !found->of->exception.empty()) {
            const std::vector<Object>& held = args_of(*found);
            return items(held, found->of->name + "(", ")", depth);
        }
        if (!is_data || !found->of->has_repr) {
            return unknown(
                found == nullptr ? "a module"
                : is_instance && !is_data
                    ? fmt::format("an instance of `{}`, which has neither `__repr__` nor "
                                  "`__str__`,",
                                  found->of->name)
                    : "a class or its instance");
        }
        std::vector<Object> values;
        for (const std::string& field : found->of->fields) {
            std::optional<Object> value = found->lookup(field);
            if (!value || is_field_of(*value, "")) {
                return unknown(fmt::format("the field `{}`", field));
            }
            values.push_back(std::move(*value));
        }
        return fields(*found->of, values, depth);
    }

    // Point(x=1, y=2)
    std::optional<std::string> fields(const Namespace& type, const std::vector<Object>& values,
                                      int depth) {
        std::string result = type.name + "(";
        for (size_t i = 0; i < values.size(); ++i) {
            result += fmt::format("{}{}=", i == 0 ? "" : ", ", type.fields[i]);
            if (!add(result, values[i], depth)) {
                return std::nullopt;
            }
        }
        return result + ")";
    }

    Context& c_;
    std::string& reason_;
    const bool only_ascii_;
    const syntax::Range range_;
};

}  // namespace

bool is_shown_by_environment(const Object& object) {
    return object.is(ObjectKind::kOpaque) ||
           (object.member() != nullptr && as_member(object) == nullptr);
}

std::string shown_float(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value < 0 ? "-inf" : "inf";
    }
    std::string text = fmt::format("{}", value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

std::optional<std::string> shown(Context& c, const Object& object, Show how, std::string& reason,
                                 syntax::Range range) {
    Shower shower(c, reason, how == Show::kAscii, range);
    return how == Show::kStr ? shower.str(object) : shower.repr(object);
}

Object show(Context& c, const Object& object, Show how, syntax::Range range) {
    std::string reason;
    if (std::optional<std::string> text = shown(c, object, how, reason, range)) {
        return Object::string(std::move(*text));
    }
    if (reason.empty()) {
        return Object::error();  // what a method has reported
    }
    return refuse(c, range, fmt::format("the text of {} is not certain", reason),
                  "take the text of numbers, strings, and lists of these");
}

}  // namespace sardonyx::elaborate
