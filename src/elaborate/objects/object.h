// Object: what a Python expression is worth at compile time.
//
// Either static (known now: numbers, strings, lists, types, functions) or a tensor value (an
// ir::Value, known when the graph runs), or an attribute parameter of the function being compiled,
// or the error object, which stands for something that has already been reported and silences what
// follows from it. Lists and tuples may hold both kinds. Lists and dicts are shared and mutable, as
// in Python.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/int128.h"
#include "ir/ir.h"
#include "ops/ops.h"
#include "syntax/tree.h"
#include "types/tensor.h"
#include "types/type.h"

namespace sardonyx::elaborate {

class Object;
class Namespace;
class ScriptFunction;
struct Closure;

enum class ObjectKind : uint8_t {
    kError,
    kUnbound,  // a name that may have no value here; `Unbound` says why
    kNone,
    kBool,
    kInt,
    kWideInt,  // an int past 64 bits, up to 128: never where a size or an index stands
    kFloat,
    kString,
    kBytes,
    kEllipsis,
    kTuple,
    kList,
    kDict,
    kSet,  // of static values
    kRange,
    kSlice,
    kConstant,     // a Tensor known at compile time: a NumPy array, a TensorProto
    kTensor,       // an ir::Value
    kAttribute,    // an attribute parameter without a known value
    kElementType,  // FLOAT.dtype, x.dtype, np.float32
    kType,         // FLOAT, FLOAT["N"], Optional[FLOAT]
    kPythonType,   // int, float, str, bool, list, typing's names: for annotations, isinstance
    kOpset,
    kOperator,   // op.Add
    kScript,     // a @script function
    kClosure,    // a nested function or lambda
    kBuiltin,    // a function that the compiler knows: len, range, math.sqrt
    kMethod,     // list.append, x.astype: a builtin bound to its object
    kPartial,    // functools.partial, a method bound to its instance: a function with arguments
    kModule,     // a module that the compiler knows, or a file
    kDecorator,  // what script(...) or graph() returns
    kOpaque,     // an object that only the environment knows
    kIterator,   // a generator, a zip, a view of a dict
    kNumbers,    // a list of Python's numbers that the graph makes: a vector
};

// What Python shows of a scalar: the text of its kind; of a number of NumPy, or of a member of an
// IntEnum or StrEnum, which differ in repr() alone; or of another class that is derived from it.
enum class ShownAs : uint8_t { kPlain, kNumpy, kMember, kOther };

// As what Python knows an element type: FLOAT.dtype and x.dtype, an int that is equal to all
// others; the class np.float32; np.dtype("float32"). They are equal, and hashed each in its own
// way.
enum class TypeForm : uint8_t { kOnnx, kNumpyClass, kNumpyDtype };

struct OpsetObject {
    std::string domain;  // "" for ai.onnx
    int64_t version = 1;
    friend bool operator==(const OpsetObject&, const OpsetObject&) = default;
};

struct OperatorObject {
    OpsetObject opset;
    std::string name;
};

struct RangeObject {
    int64_t start = 0;
    int64_t stop = 0;
    int64_t step = 1;
    int64_t size() const;
    friend bool operator==(const RangeObject&, const RangeObject&) = default;
};

// kPythonType: `name` is the last part of the dotted name ("Optional", "int", "Tuple"); `arguments`
// are those of a subscript: Optional[int] has one.
struct PythonType {
    std::string name;
    std::vector<Object> arguments;
};

// A tensor-type annotation: `explicit_shape` is false for bare FLOAT.
struct TypeObject {
    Type type;
    bool explicit_shape = true;
};

struct AttributeObject {
    std::string name;
    ir::AttributeType type = ir::AttributeType::kUndefined;
    bool is_bool = false;  // an INT that is a bool to Python
};

struct Unbound {
    std::string reason;       // "is bound in one branch only"
    diagnostics::Span where;  // the place that binds it
    // Where the branches of an `if` bind it to what is no one value, and what each says.
    std::vector<std::pair<diagnostics::Span, std::string>> bindings = {};
    // A name of a file whose value is not known (unknowns.h).
    std::shared_ptr<struct UnknownCause> cause = nullptr;
    bool is_computed = false;  // that statement binds it
    std::string help = {};     // what to write; empty: bind it before
    bool has_value = false;    // it is bound in Python, to what is no one value here
};

struct DecoratorObject {
    bool is_graph = false;
    std::vector<std::pair<std::string, Object>> keywords;  // of script(...); "opset" by position
    std::string pytorch_overload;  // that the function below means, such as `mylib::op.default`
};

// A library function; `name` is its dotted name ("math.sqrt"), `index` its row in the library's
// table.
struct BuiltinObject {
    std::string_view name;
    int index = 0;
};

struct MethodObject;
struct DictObject;

// What only the environment can look into: Python itself, or nothing.
struct OpaqueObject {
    virtual ~OpaqueObject() = default;
    virtual std::string describe() const = 0;
    // Python's `is`, `==` and whether hash() takes it.
    virtual bool is_same(const OpaqueObject& other) const { return this == &other; }
    virtual bool equals(const Object& other) const = 0;
    virtual bool is_hashable() const { return true; }
    // Whether it is a class of which `|` makes a union.
    virtual bool is_class() const { return false; }
    // Whether the class of a string or an int has this method of its own in the place of theirs.
    virtual bool redefines(std::string_view method) const {
        (void)method;
        return false;
    }
    // -1, 0, 1 of instances of a dataclass that is ordered; nothing: that is not known.
    virtual std::optional<int> order(const Object& other) const {
        (void)other;
        return std::nullopt;
    }
};

// A string that is a member of an enumeration, with what is `held` of an int (Object::member).
struct MemberText : std::string {
    MemberText(std::string text, std::shared_ptr<void> opaque)
        : std::string(std::move(text)), held(std::move(opaque)) {}
    std::shared_ptr<void> held;
};

// A module: a native one by its dotted name, or a file's namespace.
class Environment;
struct ModuleObject {
    std::string name;
    Environment* environment = nullptr;  // of a file; null: native
};

class Object {
  public:
    Object() = default;  // the error object
    static Object error() { return {}; }
    static Object none() { return Object(ObjectKind::kNone); }
    static Object ellipsis() { return Object(ObjectKind::kEllipsis); }
    static Object boolean(bool value) {
        Object object(ObjectKind::kBool);
        object.scalar_.integer = value ? 1 : 0;
        return object;
    }
    static Object integer(int64_t value) {
        Object object(ObjectKind::kInt);
        object.scalar_.integer = value;
        return object;
    }
    // An int of any size.
    static Object whole(Int128 value) {
        return fits_int64(value) ? integer(static_cast<int64_t>(value))
                                 : make(ObjectKind::kWideInt, value);
    }
    static Object real(double value) {
        Object object(ObjectKind::kFloat);
        object.scalar_.real = value;
        return object;
    }
    static Object tensor(ir::Value* value) {
        Object object(ObjectKind::kTensor);
        object.scalar_.value = value;
        return object;
    }
    // An int that is more than its number to the environment: a member of an enumeration.
    static Object int_member(int64_t value, std::shared_ptr<void> opaque) {
        Object object = integer(value);
        object.data_ = std::move(opaque);
        return object;
    }
    // The same of a string.
    static Object text_member(std::string text, std::shared_ptr<void> opaque) {
        auto held = std::make_shared<MemberText>(std::move(text), std::move(opaque));
        Object object(ObjectKind::kString);
        object.data_ = std::static_pointer_cast<std::string>(std::move(held));
        object.scalar_.integer = 1;
        return object;
    }
    // What is more than the number or text of such an int or string; null: it is none.
    OpaqueObject* member() const {
        return static_cast<OpaqueObject*>(
            kind_ == ObjectKind::kInt ? data_.get()
            : kind_ == ObjectKind::kString && scalar_.integer != 0
                ? static_cast<MemberText&>(get<std::string>()).held.get()
                : nullptr);
    }
    // A Python number that is known when the graph runs, such as len(x): beside a tensor it takes
    // the tensor's element type, as a literal does.
    static Object number(ir::Value* value) { return tensor_as(Python::kNumber, value); }
    // x.shape of a tensor whose rank is not known: to Python a tuple of ints, here an INT64 vector.
    static Object shape(ir::Value* value) { return tensor_as(Python::kTuple, value); }
    // What the run takes out of an array, or makes of such: to Python NumPy's, with its arithmetic.
    static Object array_part(ir::Value* value) { return tensor_as(Python::kArray, value); }
    // A tensor or, as the run decides, a Python number of its element type: max(x, 0).
    static Object tensor_or_number(ir::Value* value) { return tensor_as(Python::kMixed, value); }
    // A list of Python's numbers of which the run decides how many: a vector of INT64, DOUBLE or
    // BOOL, which is never changed in place. A type that is not known: an empty list, which the
    // first item makes one of numbers or a sequence.
    static Object numbers(ir::Value* value) {
        Object object(ObjectKind::kNumbers);
        object.scalar_.value = value;
        return object;
    }
    // Another value for the same kind of Python object: a tensor, a number or a shape.
    Object with_value(ir::Value* value) const {
        return is_numbers() ? numbers(value) : tensor_as(python_, value).either(is_either_);
    }
    static Object element_type(ElementType type, TypeForm form = TypeForm::kOnnx) {
        Object object(ObjectKind::kElementType);
        object.scalar_.integer = static_cast<int64_t>(type) | (static_cast<int64_t>(form) << 8);
        return object;
    }
    static Object string(std::string text) { return make(ObjectKind::kString, std::move(text)); }
    static Object bytes(std::string text) { return make(ObjectKind::kBytes, std::move(text)); }
    static Object tuple(std::vector<Object> items) {
        return nested(ObjectKind::kTuple, std::move(items));
    }
    static Object list(std::vector<Object> items) {
        return nested(ObjectKind::kList, std::move(items));
    }
    // An instance of a class of named tuples (named_tuples.h), which is a tuple in all else.
    static Object named_tuple(Namespace* type, std::vector<Object> items) {
        Object object = tuple(std::move(items));
        object.scalar_.tuple_class = type;
        return object;
    }
    // Other items for the same kind of sequence: a list, a tuple, one of the same class.
    Object with_items(std::vector<Object> items) const {
        return kind_ == ObjectKind::kTuple ? named_tuple(tuple_class(), std::move(items))
                                           : list(std::move(items));
    }
    static Object dict(DictObject items);
    // Equal items are one; in the order of their first.
    static Object set(const std::vector<Object>& items);
    // Any of the structs above, with the kind that goes with it.
    template <typename T>
    static Object make(ObjectKind kind, T data) {
        Object object(kind);
        object.data_ = std::make_shared<T>(std::move(data));
        return object;
    }
    static Object from_pointer(ObjectKind kind, std::shared_ptr<void> data) {
        Object object(kind);
        object.data_ = std::move(data);
        return object;
    }

    ObjectKind kind() const { return kind_; }
    bool is(ObjectKind kind) const { return kind_ == kind; }
    bool is_error() const { return kind_ == ObjectKind::kError; }
    bool is_none() const { return kind_ == ObjectKind::kNone; }
    bool is_tensor() const { return kind_ == ObjectKind::kTensor; }
    bool is_numbers() const { return kind_ == ObjectKind::kNumbers; }
    bool is_number_tensor() const { return python_ == Python::kNumber; }
    bool is_shape_tensor() const { return python_ == Python::kTuple; }
    bool is_array_part() const { return python_ == Python::kArray; }
    bool is_tensor_or_number() const { return python_ == Python::kMixed; }
    // What the run of the graph decides to be a number of one type to Python, or else a number of
    // another type or a tensor: 1 or 2.5, 0 or a FLOAT. Beside tensors it takes their type; alone
    // it would have two.
    bool is_either() const { return is_either_; }
    Object either(bool is_either) const {
        Object object = *this;
        object.is_either_ = is_either;
        return object;
    }
    // A tensor value or an attribute parameter: known when the graph runs.
    bool is_graph_value() const { return is_tensor() || kind_ == ObjectKind::kAttribute; }
    // The same, or an array: what operators take as it is.
    bool is_tensor_like() const { return is_graph_value() || kind_ == ObjectKind::kConstant; }
    bool is_sequence() const { return kind_ == ObjectKind::kTuple || kind_ == ObjectKind::kList; }
    bool is_number() const {
        return kind_ == ObjectKind::kBool || kind_ == ObjectKind::kInt ||
               kind_ == ObjectKind::kFloat || kind_ == ObjectKind::kWideInt;
    }
    // A str or bytes.
    bool is_text() const { return kind_ == ObjectKind::kString || kind_ == ObjectKind::kBytes; }
    // An int or bool of 64 bits.
    bool is_integer() const { return kind_ == ObjectKind::kBool || kind_ == ObjectKind::kInt; }
    // An integer to Python, of any size.
    bool is_whole() const { return is_integer() || kind_ == ObjectKind::kWideInt; }

    bool as_bool() const { return scalar_.integer != 0; }
    int64_t as_int() const { return scalar_.integer; }
    // Of what is_whole().
    Int128 as_whole() const {
        return kind_ == ObjectKind::kWideInt ? get<Int128>() : Int128{scalar_.integer};
    }
    // Of a bool, int or float.
    double as_double() const {
        return kind_ == ObjectKind::kFloat     ? scalar_.real
               : kind_ == ObjectKind::kWideInt ? static_cast<double>(get<Int128>())
                                               : static_cast<double>(scalar_.integer);
    }
    ir::Value* value() const { return scalar_.value; }
    ElementType as_element_type() const { return static_cast<ElementType>(scalar_.integer & 0xff); }
    TypeForm type_form() const { return static_cast<TypeForm>(scalar_.integer >> 8); }
    // An element type that is an int to Python.
    bool is_type_number() const {
        return kind_ == ObjectKind::kElementType && type_form() == TypeForm::kOnnx;
    }
    const std::string& text() const { return get<std::string>(); }
    // The class of a named tuple; null: it is a plain tuple, or none.
    Namespace* tuple_class() const {
        return kind_ == ObjectKind::kTuple ? scalar_.tuple_class : nullptr;
    }
    // Of a tuple, list or set. A list may be changed through it.
    std::vector<Object>& items() const { return get<std::vector<Object>>(); }
    // T must be what make() was given for this kind.
    template <typename T>
    T& get() const {
        return *static_cast<T*>(data_.get());
    }
    const std::shared_ptr<void>& pointer() const { return data_; }

    ShownAs shown_as() const { return shown_as_; }
    Object shown(ShownAs how) const {
        Object object = *this;
        object.shown_as_ = how;
        return object;
    }

    // Of a set: a frozenset, which nothing changes.
    bool is_frozen() const { return is_frozen_; }
    Object frozen(bool is_frozen) const {
        Object object = *this;
        object.is_frozen_ = is_frozen;
        return object;
    }

    // Whether all but the value is the same: what a tensor is to Python, and how it is shown.
    bool is_alike(const Object& other) const {
        return python_ == other.python_ && is_frozen_ == other.is_frozen_ &&
               is_either_ == other.is_either_ && shown_as_ == other.shown_as_;
    }

    // How deep lists, tuples and dicts stand in each other, as far as was known when it was made.
    uint16_t nesting() const { return nesting_; }

    // Whether nothing of it depends on the run of the graph: no tensor, no attribute parameter
    // inside.
    bool is_static() const;

  private:
    // What a tensor value is to Python: that is a property of the object, not of the node that
    // makes the value. op.Shape(x) is a tensor, x.shape is not.
    enum class Python : uint8_t { kTensor, kNumber, kTuple, kArray, kMixed };

    explicit Object(ObjectKind kind) : kind_(kind) {}

    static Object tensor_as(Python python, ir::Value* value) {
        Object object = tensor(value);
        object.python_ = python;
        return object;
    }

    static Object nested(ObjectKind kind, std::vector<Object> items) {
        uint16_t deepest = 0;
        for (const Object& item : items) {
            deepest = item.nesting_ > deepest ? item.nesting_ : deepest;
        }
        Object object = make(kind, std::move(items));
        object.nesting_ = static_cast<uint16_t>(deepest + (deepest < UINT16_MAX ? 1 : 0));
        if (kind == ObjectKind::kTuple) {
            object.scalar_.tuple_class = nullptr;
        }
        return object;
    }

    ObjectKind kind_ = ObjectKind::kError;
    Python python_ = Python::kTensor;
    bool is_frozen_ = false;
    bool is_either_ = false;
    ShownAs shown_as_ = ShownAs::kPlain;
    uint16_t nesting_ = 0;
    union {
        int64_t integer;
        double real;
        ir::Value* value;
        Namespace* tuple_class;
    } scalar_ = {0};
    std::shared_ptr<void> data_;
};

struct Context;

// Which object it is, not what it holds, as Python's `is` tells lists apart. A set of objects also
// keeps them alive, so that no later one takes the place of one of them.
struct Identity {
    size_t operator()(const Object& object) const {
        return std::hash<const void*>()(object.pointer().get());
    }
    bool operator()(const Object& a, const Object& b) const { return a.pointer() == b.pointer(); }
};
using ObjectSet = std::unordered_set<Object, Identity, Identity>;
template <typename T>
using ObjectMap = std::unordered_map<Object, T, Identity, Identity>;

// Which view of a dict an iterator is.
enum class DictView : uint8_t { kNone, kKeys, kValues, kItems };

// What gives its items when it is asked for them, as they are then: once, but for views of dicts.
struct IteratorObject {
    std::string_view what;  // "a generator", for messages
    std::function<std::optional<std::vector<Object>>(Context&)> items;
    Object sources;                   // a tuple of what it reads
    diagnostics::Span where;          // where it is made
    DictView view = DictView::kNone;  // of the first of its sources
    bool is_used = false;
    // At least the first so many items, where they can be had without those after them. Without
    // `items` there is no end of them.
    std::function<std::optional<std::vector<Object>>(Context&, size_t)> first = nullptr;
    // Whether each item depends on its place alone: it is the same when all are asked for again.
    bool is_by_place = false;
    size_t taken = 0;          // by `next`
    size_t taken_changes = 0;  // the size of the log of changes at the first of those
    // Of a generator that is a function: whether the names that it reads are bound to what they
    // were when it ran. It ran to its end when its first item was asked for.
    std::function<bool(Context&)> is_current = nullptr;
    // Of itertools.count: its numbers, as far as 64 bits go.
    std::optional<RangeObject> counted = std::nullopt;

    bool is_view() const { return view != DictView::kNone; }
};

struct MethodObject {
    Object self;
    std::string name;
};

struct SliceObject {
    Object lower, upper, step;
};

// The class that a dict is of: dict, or one of `collections` (dict_classes.h).
enum class DictClass : uint8_t { kDict, kOrdered, kDefault, kCounter };

// Insertion order, keys compared as Python does for static values.
struct DictObject {
    std::vector<std::pair<Object, Object>> items;
    DictClass of = DictClass::kDict;
    Object factory = Object::none();  // of a defaultdict: what makes the values of missing keys
    const Object* find(const Object& key) const;
    void set(const Object& key, Object value);
};

// A function with arguments that come before those of its calls, and keywords that these replace.
struct PartialObject {
    Object function;
    std::vector<Object> first;
    DictObject keywords;  // by their names, as strings
};

// Less, equal, greater (-1, 0, 1), of two numbers, exactly; nothing where one is not a number.
std::optional<int> compare_numbers(const Object& a, const Object& b);
// FLOAT.dtype as the int that it is; others as they are.
Object as_python_int(const Object& object);
// Whether a dict or set finds one by the other: equal, and hashed alike.
bool same_key(const Object& a, const Object& b);
// Python's == on static values; tensors are equal when they are the same value.
bool equal(const Object& a, const Object& b);
// A scalar of NumPy, such as np.int8(3), or an array without a dimension, which is the same here.
bool is_array_scalar(const Object& object);
// Whether no program tells one from the other, so that one may stand for both: equal(), but 1 is
// not True or 1.0, 0.0 is not -0.0, {"a": 1, "b": 2} not {"b": 2, "a": 1}, and NaN is NaN.
bool identical(const Object& a, const Object& b);
// Python's `is` on static values, as far as it is certain: equal constants are one object.
bool is_same_object(const Object& a, const Object& b);
// What messages show of it, shortened: "3", "'text'", "[1, 2]", "FLOAT[N]". What Python shows is in
// shown.h.
std::string repr(const Object& object);
// The word for its kind in messages: "an int", "a list", "a tensor", "a script function".
std::string_view kind_name(const Object& object);

// Whether it is a tensor value that is a sequence of ONNX.
inline bool is_sequence_value(const Object& object) {
    return object.is_tensor() && object.value()->type.kind() == TypeKind::kSequence;
}

// Whether it is a value that may be absent when the graph runs.
inline bool is_optional_value(const Object& object) {
    return object.is_tensor() && object.value()->type.kind() == TypeKind::kOptional;
}

}  // namespace sardonyx::elaborate
