// The Python class Model, and the base of the Python objects for its graphs, nodes and values.
#pragma once

#include <array>
#include <deque>
#include <memory>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "bindings/bindings.h"
#include "bindings/interrupt.h"
#include "eval/eval.h"
#include "ir/edit.h"
#include "ir/ir.h"
#include "proto/as_read.h"

namespace sardonyx::python {

// A model that Python sees. Every object of its graphs shares it.
struct ModelState {
    std::unique_ptr<ir::Model> model;
    FileStamps files;                        // that it is mapped from
    std::shared_ptr<const eval::Plan> plan;  // made by the first run
    std::unique_ptr<ir::Editor> editor;      // made by the first edit
    int readers = 0;                         // runs and the like that go on without Python's lock
    bool is_checked = true;                  // no node is known to be one that no run gets past
    // Has the objects that live as long as the Python object of the model or of one of its graphs;
    // null: none of these exists any more.
    class Keeper* keeper = nullptr;
    // Strings of the model as Python objects, by the address of the interned string.
    struct Text {
        size_t size = 0;
        nb::object object;
    };
    std::unordered_map<const char*, Text> texts = {};
    uint64_t edits = 0;         // counts calls of editor_of()
    proto::Source source = {};  // as which it is written while it is as it was

    // Types and dimensions as Python objects, by their text.
    nb::dict types = {};
    nb::dict dims = {};
    // The shape that was asked for last: values beside each other often have the same.
    Shape last_shape = {};
    nb::object last_dims = {};

    // A text that is interned in the model.
    nb::object text(std::string_view interned);
    // sardonyx.Type, or None.
    nb::object type(const Type& type);
    // An int, sardonyx.Dim, or None.
    nb::object dim(const Dim& dim);
    // A tuple of dimensions.
    nb::object shape(const Shape& shape);
};

// Holds the Python objects of a model's nodes and values, which refer to the state and not to the
// Model: there is no cycle, and a Model without references is freed at once. The objects of graphs
// share it, so that `for node in load(path).graph` makes each node once, too; it holds none of
// them.
class Keeper : public std::enable_shared_from_this<Keeper> {
  public:
    explicit Keeper(std::shared_ptr<ModelState> state) : state_(std::move(state)) {
        state_->keeper = this;
    }
    Keeper(const Keeper&) = delete;
    Keeper& operator=(const Keeper&) = delete;
    ~Keeper() { state_->keeper = nullptr; }

    std::deque<nb::object> objects;

  private:
    std::shared_ptr<ModelState> state_;
};

struct PyModel {
    std::shared_ptr<ModelState> state;
    std::shared_ptr<Keeper> keeper;
};

PyModel make_model(std::unique_ptr<ir::Model> model, FileStamps files = {},
                   proto::Source source = {});

// While one exists, the model cannot be edited.
class Reading {
  public:
    explicit Reading(ModelState& state) : state_(state) { ++state_.readers; }
    ~Reading() { --state_.readers; }
    Reading(const Reading&) = delete;
    Reading& operator=(const Reading&) = delete;

  private:
    ModelState& state_;
};

// Whether an edit has taken the graph, node or value out of the model.
template <typename T>
bool is_removed(const ModelState& state, const T& part) {
    return state.editor != nullptr && !state.editor->is_alive(part);
}

// For one edit; the prepared plan is discarded. Raises RuntimeError while the model runs.
ir::Editor& editor_of(ModelState& state);
// The known types of the model's values, except those that edits have invalidated.
ir::Model& settled(ModelState& state);

// Raises EvalError if a file that the model is mapped from has changed.
void check_files(const ModelState& state);

// The result of `work(model)`, which takes its time and cannot be run while the model is edited.
// Raises what ends it early, and EvalError if a file changes meanwhile.
template <typename Work>
auto read_model(ModelState& state, const Work& work) {
    MappedReading mapped(state.files);
    check_files(state);
    const ir::Model& model = settled(state);
    Reading going_on(state);
    auto result = stoppable([&] { return work(model); });
    check_files(state);
    return result;
}

template <typename Work>
auto read_models(const PyModel& one, const PyModel& other, const Work& work) {
    return read_model(*one.state, [&](const ir::Model& a) {
        return read_model(*other.state, [&](const ir::Model& b) { return work(a, b); });
    });
}

// The result of an edit; raises ModelError.
template <typename T>
T edited(Result<T> result) {
    if (!result.ok()) {
        raise(model_error(), result.error().message);
    }
    if constexpr (!std::is_void_v<T>) {
        return std::move(result).value();
    }
}

// How many answers a part keeps. There are as many parts as nodes and values in a model, and the
// first walk over one waits for the memory of them.
template <typename T>
inline constexpr size_t kAnswers = 0;
template <>
inline constexpr size_t kAnswers<ir::Node> = 4;
template <>
inline constexpr size_t kAnswers<ir::Value> = 3;

// An answer that holds nodes: the Keeper has it, in the place before `place` (0: none yet), and
// when that has gone, it is no more.
struct KeptAnswer {
    PyObject* object = nullptr;
    size_t place = 0;
};

// A member that takes no room.
template <int kWhich>
struct Nothing {};

// A part of a model as a Python object: `part` lives as long as the model does, and knows the
// object that it has now.
template <typename T>
struct Part {
    static constexpr bool kIsGraph = std::is_same_v<T, ir::Graph>;
    static constexpr bool kIsValue = std::is_same_v<T, ir::Value>;

    std::shared_ptr<ModelState> state;
    T* part = nullptr;

    // Python objects that were returned for it, until the next edit. Nodes keep their values here,
    // but values keep no nodes, so there is no cycle.
    mutable std::array<nb::object, kAnswers<T>> answers = {};
    [[no_unique_address]] mutable std::conditional_t<kIsValue, KeptAnswer, Nothing<0>> kept = {};
    mutable uint64_t answered_at = UINT64_MAX;
    [[no_unique_address]] std::conditional_t<kIsGraph, std::shared_ptr<Keeper>, Nothing<1>> keeper =
        {};

    Part(std::shared_ptr<ModelState> of, T* what) : state(std::move(of)), part(what) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() { part->surface_object = nullptr; }

    // The part itself; ModelError when it is no longer in the model.
    T& get() const;

    // answers[which], which `make(part)` makes.
    template <typename Make>
    nb::object answer(size_t which, const Make& make) const {
        forget_old_answers();
        nb::object& found = answers[which];
        if (!found.is_valid()) {
            found = make(get());
        }
        return found;
    }
    // The answer that the Keeper has.
    template <typename Make>
    nb::object kept_answer(const Make& make) const {
        forget_old_answers();
        if (state->keeper == nullptr) {
            return make(get());
        }
        if (kept.object != nullptr) {
            return nb::borrow(kept.object);
        }
        nb::object made = make(get());
        std::deque<nb::object>& objects = state->keeper->objects;
        if (kept.place == 0) {
            objects.emplace_back();
            kept.place = objects.size();
        }
        objects[kept.place - 1] = made;
        kept.object = made.ptr();
        return made;
    }

  private:
    void forget_old_answers() const {
        if (answered_at != state->edits) {
            answers = {};
            if constexpr (kIsValue) {
                kept.object = nullptr;
            }
            answered_at = state->edits;
        }
    }
};
using PyGraph = Part<ir::Graph>;
using PyNode = Part<ir::Node>;
using PyValue = Part<ir::Value>;
using PyFunction = Part<ir::Function>;

// The unique Python object of a part as long as it is referenced; None for null.
template <typename T>
nb::object part_to_python(const std::shared_ptr<ModelState>& state, T* part) {
    if (part == nullptr) {
        return nb::none();
    }
    if (part->surface_object != nullptr) {
        return nb::borrow(static_cast<PyObject*>(part->surface_object));
    }
    static const nb::handle kType = nb::type<Part<T>>();
    nb::object made = nb::inst_alloc(kType);
    new (nb::inst_ptr<Part<T>>(made)) Part<T>(state, part);
    nb::inst_mark_ready(made);
    part->surface_object = made.ptr();
    if (state->keeper != nullptr) {
        if constexpr (Part<T>::kIsGraph) {
            nb::inst_ptr<Part<T>>(made)->keeper = state->keeper->shared_from_this();
        } else {
            state->keeper->objects.push_back(made);
        }
    }
    return made;
}

// A tuple of so many items, which `fill(tuple)` sets: nodes, values, numbers and other tuples of
// this kind. The garbage collector knows none of these, so it need not look at the tuple either:
// the first walk over a model makes several for each node.
template <typename Fill>
nb::object tuple_of_parts(size_t count, const Fill& fill) {
    nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(count)));
    fill(tuple.ptr());
    PyObject_GC_UnTrack(tuple.ptr());
    return tuple;
}

// --- Attributes that are read often: slots of the types, which CPython calls directly
// -------------

template <typename T, auto Get>
PyObject* slot_get(PyObject* self, void* /*closure*/) noexcept {
    return guarded([&] { return Get(*nb::inst_ptr<T>(self)); });
}

template <typename T, auto Set>
int slot_set(PyObject* self, PyObject* value, void* /*closure*/) noexcept {
    nb::object done = nb::steal(guarded([&] {
        if (value == nullptr) {
            raise(PyExc_AttributeError, "it cannot be deleted");
        }
        Set(*nb::inst_ptr<T>(self), nb::handle(value));
        return nb::none();
    }));
    return done.is_valid() ? 0 : -1;
}

// The text of a str; TypeError for anything else.
inline std::string string_from_python(nb::handle given) {
    if (!PyUnicode_Check(given.ptr())) {
        raise(PyExc_TypeError, "`" + text_from_python(nb::repr(given)) + "` is not a string");
    }
    return text_from_python(given);
}

// The value of an argument: one of this model, or, where it may be left out, None.
ir::Value* value_from_argument(const ModelState& state, nb::handle object);
ir::Value* value_or_none_from_argument(const ModelState& state, nb::handle object);
std::vector<ir::Value*> values_from_arguments(const ModelState& state, nb::handle objects);
std::vector<ir::Value*> values_or_nones_from_arguments(const ModelState& state, nb::handle objects);

// An output count, or a list of names where None is a name that is made.
std::vector<std::optional<std::string>> output_names(nb::handle outputs);
nb::object metadata_to_python(const ir::Metadata& metadata);
// What `dict(entries)` gives.
nb::dict dict_from_python(nb::handle entries);
nb::object imports_to_python(const std::vector<ir::OpsetImport>& imports);
ir::Metadata metadata_from_python(ir::Model& model, nb::handle entries);
// What people write about a graph, node or value: `doc` and `metadata`.
template <typename T>
void bind_notes(nb::class_<Part<T>>& c) {
    c.def_prop_rw(
         "doc", [](const Part<T>& self) { return text_to_python(self.get().doc); },
         [](const Part<T>& self, const nb::str& text) {
             editor_of(*self.state);
             self.get().doc = self.state->model->intern(text_from_python(text));
         })
        .def_prop_rw(
            "metadata", [](const Part<T>& self) { return metadata_to_python(self.get().metadata); },
            [](const Part<T>& self, nb::handle entries) {
                editor_of(*self.state);
                self.get().metadata = metadata_from_python(*self.state->model, entries);
            });
}

// A tensor that no other object can write to.
Tensor own_tensor_from_python(nb::handle object);

// Each binds the classes of its file.
void bind_builder(nb::module_& m);
void bind_model_tools(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_model_types(nb::module_& m);
void bind_node(nb::module_& m);
void bind_value(nb::module_& m);
void bind_model_members(nb::class_<PyModel>& c);

}  // namespace sardonyx::python
