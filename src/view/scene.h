// A model as what a picture of it shows: sheets of boxes and the lines between them. A sheet is the
// main graph, the body of a function, or a subgraph; a box is an input, an output or a node.
//
// All texts are made of a model's, cut to what a reader takes in, and are well-formed UTF-8 without
// control characters (text.h); markup in them is escaped where they are written.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "diagnostics/source.h"
#include "ir/ir.h"
#include "view/notes.h"

namespace sardonyx::view {

inline constexpr uint32_t kNone = UINT32_MAX;

// An input or an output of a box.
struct Pin {
    std::string name;   // of the value; empty: left out, or not wanted
    std::string type;   // empty: unknown
    std::string value;  // of a constant, which has no box
    bool is_linked = false;
    bool is_captured = false;  // an input that only the subgraphs of the node read
    uint32_t note = kNone;     // of Scene::notes
    float x = 0;               // from the middle of the box
};

enum class BoxKind : uint8_t {
    kNode,
    kInput,
    kOutput,
    kCaptured,  // a value of a graph around this one
};

// What the colours of boxes tell apart.
enum class Group : uint8_t {
    kOther,
    kProduct,
    kActivation,
    kNormalization,
    kMovement,
    kControl,
    kFunction,
    kEnd,  // inputs and outputs
};

// A sheet inside of a box.
struct Inner {
    std::string attribute;
    uint32_t sheet = kNone;
    float x = 0, y = 0;  // from the corner of the box, where it is laid out open
};

struct Box {
    BoxKind kind = BoxKind::kNode;
    Group group = Group::kEnd;
    std::string title;
    std::string domain, overload, name, doc;
    std::vector<Pin> inputs, outputs;
    std::vector<Field> attributes, metadata;
    std::vector<std::string> lines;  // below the title: the constants among the inputs
    std::vector<Inner> inner;        // subgraphs
    uint32_t function = kNone;       // the sheet of the function that it calls
    uint32_t file = kNone;           // of Scene::files
    uint32_t line = 0;               // from 1 on
    NodeNote note;

    // The layout: the left upper corner, and the row that it stands in.
    float x = 0, y = 0, width = 0, height = 0;
    uint32_t row = 0;
};

struct Point {
    float x = 0, y = 0;
};

// From an output of a box to an input of another one.
struct Line {
    uint32_t from = 0, from_pin = 0;
    uint32_t to = 0, to_pin = 0;
    bool is_far = false;        // past so many rows, or backwards, that it has no way of its own
    std::vector<Point> points;  // the ends, and between them pairs: the way through a row
};

enum class SheetKind : uint8_t { kGraph, kFunction, kSubgraph };

struct Sheet {
    SheetKind kind = SheetKind::kGraph;
    std::string title, doc;
    uint32_t parent = kNone;  // of a subgraph: the sheet and the box that it is in
    uint32_t parent_box = kNone;
    std::vector<Box> boxes;
    std::vector<Line> lines;
    uint32_t constants = 0;  // Constant nodes, which are shown where they are used

    float width = 0, height = 0;
    std::vector<std::pair<float, float>> rows;  // top and bottom
};

// A text that nodes come from.
struct File {
    std::string path;
    std::string text;  // empty: too long to show
};

// In what the two models of a scene differ.
struct Change {
    std::string kind, graph, what;
    std::string before, after;  // empty: nothing
};

struct Scene {
    std::string title;
    std::vector<Field> fields;  // what the model says of itself
    std::vector<File> files;
    std::vector<Sheet> sheets;  // the main graph, functions, and then subgraphs
    std::vector<Note> notes;    // of values
    size_t box_count = 0;

    // Of two models: the sheet that is shown beside the first one.
    uint32_t beside = kNone;
    std::vector<Change> changes;
};

// Nothing is placed yet (layout.h). `sources`: where the spans of nodes point to; may be null.
// `notes`: what is shown with values and nodes; may be null.
// Error: the model is larger than any reader or browser takes.
Result<Scene> make_scene(const ir::Model& model, const diagnostics::Sources* sources,
                         std::string_view title, const Notes* notes = nullptr);

}  // namespace sardonyx::view
