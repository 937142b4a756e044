// Sheets, files and notes are known by their indices, all of which move by the number of those that
// are there before.
#include "view/beside.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "view/text.h"

namespace sardonyx::view {
namespace {

constexpr size_t kMaxChanges = 2000;
constexpr size_t kMaxChangeText = 400;  // characters

void move_by(uint32_t& index, size_t count) {
    index += index == kNone ? 0 : static_cast<uint32_t>(count);
}

template <typename T>
void append(std::vector<T>& to, std::vector<T>& from) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void move_box(Box& box, const Scene& before) {
    for (std::vector<Pin>* pins : {&box.inputs, &box.outputs}) {
        for (Pin& pin : *pins) {
            move_by(pin.note, before.notes.size());
        }
    }
    for (Inner& inner : box.inner) {
        move_by(inner.sheet, before.sheets.size());
    }
    move_by(box.function, before.sheets.size());
    move_by(box.file, before.files.size());
}

}  // namespace

void put_beside(Scene& first, Scene second, std::vector<Change> changes) {
    for (Sheet& sheet : second.sheets) {
        move_by(sheet.parent, first.sheets.size());
        for (Box& box : sheet.boxes) {
            move_box(box, first);
        }
    }
    first.beside = second.sheets.empty() ? kNone : static_cast<uint32_t>(first.sheets.size());
    append(first.sheets, second.sheets);
    append(first.files, second.files);
    append(first.notes, second.notes);
    first.box_count += second.box_count;
    first.title = shown(first.title + " | " + second.title, kMaxChangeText);
    for (Change& one : changes) {
        if (first.changes.size() == kMaxChanges) {
            break;
        }
        for (std::string* text : {&one.graph, &one.what, &one.before, &one.after}) {
            *text = shown(*text, kMaxChangeText);
        }
        first.changes.push_back(std::move(one));
    }
    size_t own = first.fields.size();
    for (const Field& field : second.fields) {
        auto end = first.fields.begin() + static_cast<ptrdiff_t>(own);
        if (std::find(first.fields.begin(), end, field) == end) {
            first.fields.emplace_back(field.first + " (second)", field.second);
        }
    }
}

}  // namespace sardonyx::view
