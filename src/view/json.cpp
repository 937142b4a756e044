// Members that are empty are left out, and places are whole numbers.
#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "base/json.h"
#include "view/groups.h"
#include "view/page.h"
#include "view/text.h"
#include "view/write.h"

namespace sardonyx::view {
namespace {

long whole(float number) {
    return std::lround(number);
}

// The text can stand in a page.
std::string page_string(std::string_view text) {
    return json_string(text, JsonText::kInPage);
}

class JsonWriter {
  public:
    std::string take() { return std::move(text_); }

    void scene(const Scene& scene) {
        text_ += '{';
        member("title", scene.title);
        fields("fields", scene.fields);
        list("colors", kGroupCount,
             [&](size_t i) { text_ += page_string(color_of(static_cast<Group>(i))); });
        each("files", scene.files, [&](const File& file) {
            text_ += '{';
            member("path", file.path);
            member("text", file.text);
            close('}');
        });
        each("sheets", scene.sheets, [&](const Sheet& one) { sheet(one); });
        each("notes", scene.notes, [&](const Note& one) { note(one); });
        if (scene.beside != kNone) {
            member("beside", static_cast<long>(scene.beside));
            each("changes", scene.changes, [&](const Change& one) {
                text_ += fmt::format("[{},{},{},{},{}]", page_string(one.kind),
                                     page_string(one.graph), page_string(one.what),
                                     page_string(one.before), page_string(one.after));
            });
        }
        close('}');
    }

  private:
    static constexpr size_t kGroupCount = static_cast<size_t>(Group::kEnd) + 1;

    // Ends an object or a list; the comma behind its last member goes.
    void close(char bracket) {
        if (text_.back() == ',') {
            text_.pop_back();
        }
        text_ += bracket;
    }
    void key(std::string_view name) { text_ += fmt::format("\"{}\":", name); }
    void member(std::string_view name, std::string_view text) {
        if (!text.empty()) {
            key(name);
            text_ += page_string(text) + ",";
        }
    }
    void member(std::string_view name, long number) {
        fmt::format_to(std::back_inserter(text_), "\"{}\":{},", name, number);
    }
    template <typename Write>
    void list(std::string_view name, size_t count, Write write) {
        if (count == 0) {
            return;
        }
        key(name);
        text_ += '[';
        for (size_t i = 0; i < count; ++i) {
            write(i);
            text_ += ',';
        }
        close(']');
        text_ += ',';
    }
    template <typename T, typename Write>
    void each(std::string_view name, const std::vector<T>& items, Write write) {
        list(name, items.size(), [&](size_t i) { write(items[i]); });
    }
    void fields(std::string_view name, const std::vector<Field>& items) {
        each(name, items, [&](const Field& field) {
            text_ += fmt::format("[{},{}]", page_string(field.first), page_string(field.second));
        });
    }

    void sheet(const Sheet& sheet) {
        text_ += '{';
        member("kind", sheet.kind == SheetKind::kFunction   ? "function"
                       : sheet.kind == SheetKind::kSubgraph ? "subgraph"
                                                            : "graph");
        member("title", sheet.title);
        member("doc", sheet.doc);
        if (sheet.parent != kNone) {
            text_ += fmt::format("\"parent\":[{},{}],", sheet.parent, sheet.parent_box);
        }
        if (sheet.constants > 0) {
            member("constants", static_cast<long>(sheet.constants));
        }
        member("width", whole(sheet.width));
        member("height", whole(sheet.height));
        each("rows", sheet.rows, [&](const std::pair<float, float>& row) {
            text_ += fmt::format("[{},{}]", whole(row.first), whole(row.second));
        });
        each("boxes", sheet.boxes, [&](const Box& one) { box(one); });
        each("lines", sheet.lines, [&](const Line& one) { line(one); });
        close('}');
    }

    void box(const Box& box) {
        static constexpr std::string_view kKinds[] = {"node", "input", "output", "captured"};
        text_ += '{';
        member("kind", kKinds[static_cast<size_t>(box.kind)]);
        member("group", static_cast<long>(box.group));
        member("title", box.title);
        member("domain", box.domain);
        member("overload", box.overload);
        member("name", box.name);
        member("doc", box.doc);
        fields("attributes", box.attributes);
        fields("metadata", box.metadata);
        each("inputs", box.inputs, [&](const Pin& one) { pin(one); });
        each("outputs", box.outputs, [&](const Pin& one) { pin(one); });
        each("lines", box.lines, [&](const std::string& one) { text_ += page_string(one); });
        each("inner", box.inner, [&](const Inner& inner) {
            text_ += fmt::format("[{},{}]", page_string(inner.attribute), inner.sheet);
        });
        if (box.function != kNone) {
            member("function", static_cast<long>(box.function));
        }
        if (box.file != kNone) {
            member("file", static_cast<long>(box.file));
            member("line", static_cast<long>(box.line));
        }
        node_note(box.note);
        member("x", whole(box.x));
        member("y", whole(box.y));
        member("w", whole(box.width));
        member("h", whole(box.height));
        member("row", static_cast<long>(box.row));
        close('}');
    }

    void node_note(const NodeNote& note) {
        static constexpr std::string_view kMarks[] = {"", "added", "removed", "changed"};
        member("mark", kMarks[static_cast<size_t>(note.mark)]);
        if (note.pair != kNone) {
            member("pair", static_cast<long>(note.pair));
        }
        if (note.is_first_nan) {
            text_ += "\"first_nan\":true,";
        }
    }

    void note(const Note& note) {
        text_ += '{';
        fields("fields", note.fields);
        if (!note.bars.empty()) {
            fmt::format_to(std::back_inserter(text_), "\"range\":[{:.6g},{:.6g}],", note.least,
                           note.greatest);
        }
        each("bars", note.bars, [&](int64_t count) { text_ += std::to_string(count); });
        if (note.has_nan) {
            text_ += "\"nan\":true,";
        }
        close('}');
    }

    void pin(const Pin& pin) {
        text_ += '{';
        member("name", pin.name);
        member("type", pin.type);
        member("value", pin.value);
        if (pin.is_linked) {
            member("x", whole(pin.x));
        }
        if (pin.is_captured) {
            text_ += "\"captured\":true,";
        }
        if (pin.note != kNone) {
            member("note", static_cast<long>(pin.note));
        }
        close('}');
    }

    // [from, output, to, input, whether it is far, x, y, x, y, ...]
    void line(const Line& line) {
        fmt::format_to(std::back_inserter(text_), "[{},{},{},{},{}", line.from, line.from_pin,
                       line.to, line.to_pin, line.is_far ? 1 : 0);
        for (const Point& point : line.points) {
            fmt::format_to(std::back_inserter(text_), ",{},{}", whole(point.x), whole(point.y));
        }
        text_ += ']';
    }

    std::string text_;
};

}  // namespace

std::string to_json(const Scene& scene) {
    JsonWriter writer;
    writer.scene(scene);
    return writer.take();
}

std::string to_html(const Scene& scene) {
    std::string page(page_head());
    page += to_json(scene);
    page += page_tail();
    return page;
}

}  // namespace sardonyx::view
