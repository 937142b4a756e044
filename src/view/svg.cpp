#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include "base/markup.h"
#include "view/groups.h"
#include "view/layout.h"
#include "view/sizes.h"
#include "view/text.h"
#include "view/write.h"

namespace sardonyx::view {
namespace {

constexpr float kSheetTitle = 24;  // above each sheet

// The classes have a prefix, because a notebook has one style for all that it shows.
constexpr std::string_view kStyle =
    "<style>.sdx text{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace}"
    ".sdx-t{font-size:12px;fill:#fff;text-anchor:middle}"
    ".sdx-d{font-size:12px;fill:#22262c;text-anchor:middle}"
    ".sdx-l{font-size:10.5px;fill:#3a404a;text-anchor:middle}"
    ".sdx-p{font-size:9.5px;fill:#5b6370;paint-order:stroke;stroke:#fff;stroke-width:3px;"
    "stroke-linejoin:round}"
    ".sdx-h{font-size:12px;font-weight:bold;fill:#22262c}"
    ".sdx-e{fill:none;stroke:#9aa2ae;stroke-width:1.1}"
    ".sdx-f{fill:none;stroke:#c9ced6;stroke-width:1;stroke-dasharray:4 3}"
    ".sdx-added{fill:#1a7f37}.sdx-removed{fill:#b42318}.sdx-changed{fill:#d97706}"
    ".sdx-nan{fill:#d92d20}.sdx-m{opacity:.35}</style>\n";
constexpr float kFrame = 4;  // around what is marked

class SvgWriter {
  public:
    explicit SvgWriter(const Scene& scene) : scene_(scene) {}

    std::string take() {
        float width = 0, height = 0;
        std::string body;
        std::swap(body, text_);
        for (size_t i = 0; i < scene_.sheets.size(); ++i) {
            const Sheet& one = scene_.sheets[i];
            if (one.kind == SheetKind::kSubgraph) {
                continue;
            }
            if (std::string title = title_of(i); !title.empty()) {
                text("sdx-h", kMargin, height + kSheetTitle - 6, title);
                height += kSheetTitle;
            }
            sheet(one, 0, height);
            width = std::max(width, one.width);
            height += one.height;
        }
        std::swap(body, text_);
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"sdx\" width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\">\n<title>{2}</title>\n{3}"
            "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{4}</svg>\n",
            std::max(width, 1.0F), std::max(height, 1.0F), markup(scene_.title), kStyle, body);
    }

  private:
    template <typename... Parts>
    void add(fmt::format_string<Parts...> form, Parts&&... parts) {
        fmt::format_to(std::back_inserter(text_), form, std::forward<Parts>(parts)...);
    }

    // Of a sheet; empty: the picture's own is enough.
    std::string title_of(size_t index) const {
        const Sheet& sheet = scene_.sheets[index];
        if (sheet.kind == SheetKind::kFunction) {
            return "function " + sheet.title;
        }
        if (scene_.beside == kNone) {
            return {};
        }
        return (index == scene_.beside ? "second: " : "first: ") + sheet.title;
    }

    void text(std::string_view style, float x, float y, std::string_view words) {
        add("<text class=\"{}\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", style, x, y, markup(words));
    }

    void sheet(const Sheet& sheet, float x, float y) {
        for (const Line& one : sheet.lines) {
            line(one, x, y);
        }
        for (const Box& one : sheet.boxes) {
            box(one, x + one.x, y + one.y);
        }
    }

    void line(const Line& line, float x, float y) {
        add(R"(<path class="{}" d="M{:.0f} {:.0f})", line.is_far ? "sdx-f" : "sdx-e",
            x + line.points[0].x, y + line.points[0].y);
        for (size_t i = 1; i < line.points.size(); ++i) {
            Point from{x + line.points[i - 1].x, y + line.points[i - 1].y};
            Point to{x + line.points[i].x, y + line.points[i].y};
            float middle = (from.y + to.y) / 2;
            if (i % 2 == 0) {  // through a row
                add("V{:.0f}", to.y);
            } else {
                add("C{:.0f} {:.0f} {:.0f} {:.0f} {:.0f} {:.0f}", from.x, middle, to.x, middle,
                    to.x, to.y);
            }
        }
        text_ += "\"/>\n";
    }

    // What differs from the other model, or gave the first NaN, is seen from afar.
    void frame(const Box& box, float x, float y) {
        constexpr std::string_view kMarks[] = {"", "added", "removed", "changed"};
        std::string_view mark =
            box.note.is_first_nan ? "nan" : kMarks[static_cast<size_t>(box.note.mark)];
        if (!mark.empty()) {
            add("<rect class=\"sdx-m sdx-{}\" x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" "
                "height=\"{:.0f}\"/>\n",
                mark, x - kFrame, y - kFrame, box.width + 2 * kFrame, box.height + 2 * kFrame);
        }
    }

    void box(const Box& box, float x, float y) {
        frame(box, x, y);
        add("<g><title>{}</title>", markup(hint(box)));
        bool is_end = box.kind != BoxKind::kNode;
        bool is_open = !box.inner.empty() && box.inner[0].y > 0;
        std::string_view color = color_of(box.group);
        add("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"{}\" "
            "fill=\"{}\" stroke=\"{}\"{}/>\n",
            x, y, box.width, box.height, is_end ? 11 : 4, is_end || is_open ? "#f4f5f7" : "#fff",
            color, box.kind == BoxKind::kCaptured ? " stroke-dasharray=\"4 3\"" : "");
        if (!is_end) {
            add("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"4\" "
                "fill=\"{}\"/>\n",
                x, y, box.width, kTitleHeight, color);
        }
        float middle = x + box.width / 2;
        text(is_end ? "sdx-d" : "sdx-t", middle, y + 16, box_title(box));
        float line_y = y + kTitleHeight;
        for (const std::string& one : box.lines) {
            line_y += kLineHeight;
            text("sdx-l", middle, line_y - 1, one);
        }
        text_ += "</g>\n";
        for (const Pin& pin : box.outputs) {
            if (pin.is_linked && !pin.type.empty()) {
                text("sdx-p", middle + pin.x + 5, y + box.height + 11, pin_label(pin));
            }
        }
        for (const Inner& inner : box.inner) {
            if (inner.y > 0) {
                text("sdx-h", x + inner.x + 4, y + inner.y - 4, inner.attribute);
                sheet(scene_.sheets[inner.sheet], x + inner.x, y + inner.y);
            }
        }
    }

    // What a browser shows beside the pointer.
    static std::string hint(const Box& box) {
        std::string words = box.domain.empty() ? box.title : box.domain + "." + box.title;
        words += box.name.empty() ? "" : " " + box.name;
        for (const auto& [name, value] : box.attributes) {
            words += fmt::format("\n{} = {}", name, value);
        }
        for (const Pin& pin : box.outputs) {
            words += fmt::format("\n{}: {}", pin.name, pin.type.empty() ? "?" : pin.type);
        }
        return box.line == 0 ? words : fmt::format("{}\nline {}", words, box.line);
    }

    const Scene& scene_;
    std::string text_;
};

}  // namespace

std::string to_svg(const Scene& scene) {
    return SvgWriter(scene).take();
}

}  // namespace sardonyx::view
