#include "view/sizes.h"

#include <algorithm>

#include "view/text.h"

namespace sardonyx::view {
namespace {

constexpr float kAdvance = 0.602F;                // of a font of one width, in parts of its size
constexpr size_t kMaxTitle = 36, kMaxLabel = 34;  // characters
constexpr float kPadding = 10;
constexpr float kLabelGap = 5;  // between a line and its type

float text_width(std::string_view text, float font) {
    return static_cast<float>(columns(text)) * font * kAdvance;
}

float label_width(const Pin& pin) {
    return kLabelGap + text_width(pin_label(pin), kLabelFont);
}

// An output that has a line, or that somebody wants to see the type of.
bool has_label(const Pin& pin) {
    return pin.is_linked && !pin.type.empty();
}

// The room that each of several outputs takes.
float slot(const Pin& pin) {
    return pin.is_linked ? std::max(24.0F, label_width(pin) + 10) : 0;
}

size_t linked(const std::vector<Pin>& pins) {
    return static_cast<size_t>(
        std::count_if(pins.begin(), pins.end(), [](const Pin& pin) { return pin.is_linked; }));
}

float slots(const Box& box) {
    float sum = 0;
    for (const Pin& pin : box.outputs) {
        sum += slot(pin);
    }
    return sum;
}

}  // namespace

std::string box_title(const Box& box) {
    return shown(box.title.empty() ? "?" : box.title, kMaxTitle);
}

std::string pin_label(const Pin& pin) {
    return shown(pin.type, kMaxLabel);
}

void set_size(Box& box) {
    float width = text_width(box_title(box), kTitleFont);
    for (const std::string& line : box.lines) {
        width = std::max(width, text_width(line, kLineFont));
    }
    bool can_open = !box.inner.empty() || box.function != kNone;
    box.width = std::max(44.0F, width + 2 * kPadding + (can_open ? 2 * kPadding : 0));
    if (linked(box.outputs) > 1) {
        box.width = std::max(box.width, slots(box));
    }
    box.width = std::max(box.width, static_cast<float>(linked(box.inputs)) * 10);
    box.height = kTitleHeight + static_cast<float>(box.lines.size()) * kLineHeight +
                 (box.lines.empty() ? 0 : 4);
}

void place_pins(Box& box) {
    size_t outputs = linked(box.outputs);
    float x = -slots(box) / 2;
    for (Pin& pin : box.outputs) {
        pin.x = outputs > 1 ? x + 8 : 0;
        x += slot(pin);
    }
    size_t inputs = linked(box.inputs), count = 0;
    for (Pin& pin : box.inputs) {
        pin.x = 0;
        if (pin.is_linked) {
            float part = (static_cast<float>(count++) + 0.5F) / static_cast<float>(inputs) - 0.5F;
            pin.x = part * box.width * 0.8F;
        }
    }
}

float label_end(const Box& box) {
    float end = 0;
    for (const Pin& pin : box.outputs) {
        end = has_label(pin) ? std::max(end, pin.x + label_width(pin)) : end;
    }
    return end;
}

}  // namespace sardonyx::view
