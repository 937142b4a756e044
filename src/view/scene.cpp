// make_scene: sheet by sheet, first all boxes of a sheet and then the lines between them, because
// a model that is not in order uses values before they are made. A value of a graph around gets a
// box of its own in the subgraph, and a line to the node that the subgraph belongs to.
#include "view/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/stop.h"
#include "ir/attribute_text.h"
#include "ir/standard.h"
#include "types/domain.h"
#include "view/groups.h"
#include "view/text.h"

namespace sardonyx::view {
namespace {

constexpr size_t kMaxBoxes = 200'000;
constexpr size_t kMaxLines = 1'000'000;
constexpr size_t kMaxName = 200;  // characters
constexpr size_t kMaxText = 400;  // of an attribute or a constant
constexpr size_t kMaxDoc = 2000;
constexpr size_t kMaxConstant = 26;  // of a constant in a box
constexpr size_t kMaxBoxLines = 4;
constexpr size_t kMaxFields = 100;
constexpr size_t kMaxPath = 4096;
constexpr size_t kMaxFile = size_t{2} << 20U;
constexpr int64_t kShownElements = 4;

std::string name_of(std::string_view name) {
    return shown(name, kMaxName);
}

std::string type_of(const ir::Value& value) {
    std::string text = value.type.is_known() ? value.type.to_string() : std::string();
    bool says_nothing = text == "?" || text == "?[...]";
    return says_nothing ? std::string() : shown(text, kMaxName);
}

// The one attribute of a Constant node that says its value; null: there is none.
const ir::Attribute* constant_attribute(const ir::Value& value) {
    const ir::Node* node = value.producer();
    bool is_one = ir::is_standard(node, "Constant") && node->attributes.size() == 1 &&
                  !node->attributes[0].is_reference();
    return is_one ? node->attributes.data() : nullptr;
}

bool is_constant(const ir::Value& value) {
    bool is_weight = value.is_initializer() && !value.is_graph_input();
    return is_weight || constant_attribute(value) != nullptr;
}

// As in "FLOAT[2] {1, 2}" or "FLOAT[3,64]".
std::string tensor_text(const Tensor& tensor) {
    return tensor.count() <= kShownElements ? to_string(tensor, kShownElements)
                                            : tensor.type().to_string();
}

std::string constant_text(const ir::Value& value) {
    if (const ir::Attribute* attribute = constant_attribute(value)) {
        const Tensor* tensor = attribute->get<Tensor>();
        return tensor != nullptr ? tensor_text(*tensor) : ir::text_of(*attribute);
    }
    if (value.constant.has_value()) {
        return tensor_text(*value.constant);
    }
    return value.sparse != nullptr ? "sparse " + value.sparse->values.type().to_string()
                                   : std::string("?");
}

// The value alone where that says it all: {2} of "INT64 {2}".
std::string_view short_constant(std::string_view text) {
    size_t brace = text.find('{');
    bool is_list = brace != std::string_view::npos && brace > 0 && text[0] != '"';
    return is_list ? text.substr(brace) : text;
}

std::vector<Field> fields_of(const ir::Metadata& metadata) {
    std::vector<Field> fields;
    for (const auto& [key, value] : metadata) {
        if (fields.size() < kMaxFields) {
            fields.emplace_back(name_of(key), shown(value, kMaxText));
        }
    }
    return fields;
}

// Where a value comes from, in one sheet.
struct Place {
    uint32_t box = 0;
    uint32_t pin = 0;
};

struct Frame {
    const ir::Graph* graph = nullptr;
    std::unordered_map<const ir::Value*, Place> places;
    // The values that subgraphs of a box have been seen to read.
    std::set<std::pair<uint32_t, const ir::Value*>> captured;
};

class SceneMaker {
  public:
    SceneMaker(const ir::Model& model, const diagnostics::Sources* sources, const Notes& notes)
        : model_(model), sources_(sources), notes_(notes) {}

    Result<Scene> make(std::string_view title) {
        scene_.title = name_of(title);
        describe_model();
        if (model_.graph != nullptr) {
            add_sheet(*model_.graph, SheetKind::kGraph, model_.graph->name);
        }
        for (const ir::Function* function : model_.functions) {
            if (function->body != nullptr) {
                functions_.emplace(function, static_cast<uint32_t>(frames_.size()));
                add_sheet(*function->body, SheetKind::kFunction, function->name);
                scene_.sheets.back().doc = shown_lines(function->doc, kMaxDoc);
            }
        }
        for (uint32_t sheet = 0; sheet < frames_.size(); ++sheet) {
            add_boxes(sheet);
            add_lines(sheet);
            if (scene_.box_count > kMaxBoxes || line_count_ > kMaxLines) {
                return Error{fmt::format(
                    "the model has more than {} nodes or {} edges: too many for a picture",
                    kMaxBoxes, kMaxLines)};
            }
        }
        return std::move(scene_);
    }

  private:
    void describe_model() {
        auto field = [&](std::string_view name, std::string_view text) {
            if (!text.empty()) {
                scene_.fields.emplace_back(name, shown(text, kMaxText));
            }
        };
        std::string imports;
        for (const ir::OpsetImport& import : model_.opset_imports) {
            imports += fmt::format("{}{} {}", imports.empty() ? "" : ", ",
                                   shown_domain(import.domain), import.version);
        }
        field("opsets", imports);
        field("producer", model_.producer_name);
        field("producer version", model_.producer_version);
        field("documentation", model_.doc);
        for (Field& one : fields_of(model_.metadata)) {
            scene_.fields.push_back(std::move(one));
        }
        for (const auto& [name, text] : notes_.fields) {
            field(name, text);
        }
    }

    // The index of what is known of a value.
    uint32_t note_of(const ir::Value& value) {
        auto known = notes_.values.find(&value);
        if (known == notes_.values.end()) {
            return kNone;
        }
        auto [found, is_new] =
            note_indices_.emplace(&value, static_cast<uint32_t>(scene_.notes.size()));
        if (is_new) {
            Note& note = scene_.notes.emplace_back(known->second);
            for (auto& [name, text] : note.fields) {
                text = shown(text, kMaxText);
            }
        }
        return found->second;
    }

    uint32_t add_sheet(const ir::Graph& graph, SheetKind kind, std::string_view title) {
        Frame& frame = frames_.emplace_back();
        frame.graph = &graph;
        Sheet& sheet = scene_.sheets.emplace_back();
        sheet.kind = kind;
        sheet.title = name_of(title);
        sheet.doc = shown_lines(graph.doc, kMaxDoc);
        return static_cast<uint32_t>(frames_.size() - 1);
    }

    // --- Boxes -----------------------------------------------------------------------------------

    Box& add_box(uint32_t sheet, BoxKind kind, std::string title) {
        ++scene_.box_count;
        Box& box = scene_.sheets[sheet].boxes.emplace_back();
        box.kind = kind;
        box.title = std::move(title);
        return box;
    }

    void add_output_pin(uint32_t sheet, Box& box, const ir::Value& value) {
        auto index = static_cast<uint32_t>(scene_.sheets[sheet].boxes.size() - 1);
        frames_[sheet].places.emplace(&value,
                                      Place{index, static_cast<uint32_t>(box.outputs.size())});
        box.outputs.push_back({name_of(value.name), type_of(value), {}});
        box.outputs.back().note = note_of(value);
    }

    void add_boxes(uint32_t sheet) {
        const ir::Graph& graph = *frames_[sheet].graph;
        for (const ir::Value* input : graph.inputs) {
            Box& box = add_box(sheet, BoxKind::kInput, name_of(input->name));
            box.doc = shown_lines(input->doc, kMaxDoc);
            if (input->is_initializer()) {
                box.lines.push_back("default " +
                                    shown(short_constant(constant_text(*input)), kMaxConstant));
            }
            set_place(box, input->span);
            add_output_pin(sheet, box, *input);
        }
        for (const ir::Node& node : graph) {
            stop_point();
            if (scene_.box_count > kMaxBoxes) {
                return;
            }
            if (node.output_count() == 1 && constant_attribute(*node.output()) != nullptr) {
                ++scene_.sheets[sheet].constants;
            } else {
                add_node(sheet, node);
            }
        }
    }

    void add_node(uint32_t sheet, const ir::Node& node) {
        const ir::Function* function =
            model_.find_function(node.domain, node.op_type, node.overload);
        auto found = functions_.find(function);
        Box& box = add_box(sheet, BoxKind::kNode, name_of(node.op_type));
        auto index = static_cast<uint32_t>(scene_.sheets[sheet].boxes.size() - 1);
        box.group = function != nullptr ? Group::kFunction : group_of(node);
        box.function = found != functions_.end() ? found->second : kNone;
        box.domain = name_of(node.domain);
        box.overload = name_of(node.overload);
        box.name = name_of(node.name);
        box.doc = shown_lines(node.doc, kMaxDoc);
        box.metadata = fields_of(node.metadata);
        set_place(box, node.span);
        if (auto note = notes_.nodes.find(&node); note != notes_.nodes.end()) {
            box.note = note->second;
        }
        for (const ir::Value* output : node.outputs()) {
            if (output != nullptr) {
                add_output_pin(sheet, box, *output);
            }
        }
        for (const ir::Attribute& attribute : node.attributes) {
            add_attribute(sheet, index, attribute);
        }
    }

    // Boxes move when sheets are added: they are named by their index.
    void add_attribute(uint32_t sheet, uint32_t index, const ir::Attribute& attribute) {
        std::string name = name_of(attribute.name);
        if (ir::Graph* const* graph = attribute.get<ir::Graph*>()) {
            add_inner(sheet, index, name, *graph);
        } else if (const auto* graphs = attribute.get<std::vector<ir::Graph*>>()) {
            for (size_t i = 0; i < graphs->size(); ++i) {
                add_inner(sheet, index, fmt::format("{}[{}]", name, i), (*graphs)[i]);
            }
        } else if (std::vector<Field>& fields = scene_.sheets[sheet].boxes[index].attributes;
                   fields.size() < kMaxFields) {
            fields.emplace_back(std::move(name), shown(ir::text_of(attribute), kMaxText));
        }
    }

    void add_inner(uint32_t sheet, uint32_t index, std::string name, const ir::Graph* graph) {
        if (graph == nullptr) {
            return;
        }
        uint32_t added = add_sheet(*graph, SheetKind::kSubgraph, graph->name);
        scene_.sheets[added].parent = sheet;
        scene_.sheets[added].parent_box = index;
        scene_.sheets[sheet].boxes[index].inner.push_back({std::move(name), added});
    }

    void set_place(Box& box, const diagnostics::Span& span) {
        if (sources_ == nullptr || !span.valid()) {
            return;
        }
        box.file = file_of(span.file);
        box.line = sources_->position(span.file, span.begin).line;
    }

    uint32_t file_of(diagnostics::FileId file) {
        auto [found, is_new] =
            files_.emplace(file.index, static_cast<uint32_t>(scene_.files.size()));
        if (is_new) {
            std::string_view text = sources_->text(file);
            scene_.files.push_back(
                {shown(sources_->path(file), kMaxPath),
                 text.size() <= kMaxFile ? shown_lines(text, kMaxFile) : std::string()});
        }
        return found->second;
    }

    // --- Lines -----------------------------------------------------------------------------------

    void add_lines(uint32_t sheet) {
        const ir::Graph& graph = *frames_[sheet].graph;
        auto box = static_cast<uint32_t>(graph.inputs.size());
        for (const ir::Node& node : graph) {
            stop_point();
            if (line_count_ > kMaxLines || scene_.box_count > kMaxBoxes) {
                return;
            }
            if (node.output_count() == 1 && constant_attribute(*node.output()) != nullptr) {
                continue;
            }
            for (const ir::Use& use : node.inputs()) {
                add_input_pin(sheet, box, use.value);
            }
            ++box;
        }
        for (const ir::Value* output : graph.outputs) {
            add_box(sheet, BoxKind::kOutput, name_of(output->name));
            add_input_pin(sheet, static_cast<uint32_t>(scene_.sheets[sheet].boxes.size() - 1),
                          output);
        }
    }

    void add_input_pin(uint32_t sheet, uint32_t index, const ir::Value* value) {
        Pin pin;
        if (value != nullptr) {
            pin.name = name_of(value->name);
            pin.type = type_of(*value);
            pin.note = note_of(*value);
        }
        if (value != nullptr && is_constant(*value)) {
            std::string text = constant_text(*value);
            pin.value = shown(text, kMaxText);
            std::vector<std::string>& lines = scene_.sheets[sheet].boxes[index].lines;
            if (lines.size() < kMaxBoxLines) {
                lines.push_back(shown(short_constant(text), kMaxConstant));
            }
        }
        bool has_line = value != nullptr && pin.value.empty() && !value->name.empty();
        scene_.sheets[sheet].boxes[index].inputs.push_back(std::move(pin));
        if (has_line) {
            add_line(sheet, index, *value);
        }
    }

    // To the last input of the box.
    void add_line(uint32_t sheet, uint32_t index, const ir::Value& value) {
        auto found = frames_[sheet].places.find(&value);
        if (found == frames_[sheet].places.end()) {
            capture(sheet, value);
            found = frames_[sheet].places.find(&value);
        }
        Place from = found->second;
        Sheet& own = scene_.sheets[sheet];
        Box& to = own.boxes[index];
        to.inputs.back().is_linked = true;
        own.boxes[from.box].outputs[from.pin].is_linked = true;
        own.lines.push_back(
            {from.box, from.pin, index, static_cast<uint32_t>(to.inputs.size() - 1), false, {}});
        ++line_count_;
    }

    // A value of a graph around, or of nowhere: a box in this sheet, and in those between.
    void capture(uint32_t sheet, const ir::Value& value) {
        Box& box = add_box(sheet, BoxKind::kCaptured, name_of(value.name));
        add_output_pin(sheet, box, value);
        uint32_t parent = scene_.sheets[sheet].parent;
        uint32_t parent_box = scene_.sheets[sheet].parent_box;
        if (parent == kNone || !frames_[parent].captured.emplace(parent_box, &value).second) {
            return;
        }
        Pin pin{name_of(value.name), type_of(value), {}};
        pin.is_captured = true;
        scene_.sheets[parent].boxes[parent_box].inputs.push_back(std::move(pin));
        add_line(parent, parent_box, value);  // as deep as the nesting, which the reader limits
    }

    const ir::Model& model_;
    const diagnostics::Sources* sources_;
    const Notes& notes_;
    Scene scene_;
    std::vector<Frame> frames_;  // of the sheets
    std::unordered_map<const ir::Function*, uint32_t> functions_;
    std::unordered_map<uint32_t, uint32_t> files_;
    std::unordered_map<const ir::Value*, uint32_t> note_indices_;
    size_t line_count_ = 0;
};

}  // namespace

Result<Scene> make_scene(const ir::Model& model, const diagnostics::Sources* sources,
                         std::string_view title, const Notes* notes) {
    const Notes none;
    return SceneMaker(model, sources, notes != nullptr ? *notes : none).make(title);
}

}  // namespace sardonyx::view
