#include "torch/place.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

namespace sardonyx::torch {
namespace {

// The part of the text before the separator, which is taken off with it.
std::string_view take(std::string_view& text, char separator) {
    std::string_view part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

std::string_view stripped(std::string_view text) {
    size_t first = text.find_first_not_of(" \t\r");
    size_t last = text.find_last_not_of(" \t\r");
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, last - first + 1);
}

struct Frame {
    std::string_view file;
    int64_t line = 0;
    std::string_view code;
};

// `File "mlp.py", line 12, in forward`, and the line after it.
std::optional<Frame> read_frame(std::string_view line, std::string_view next) {
    constexpr std::string_view kFile = "File \"", kLine = "\", line ";
    size_t begin = line.find(kFile);
    if (begin == std::string_view::npos) {
        return std::nullopt;
    }
    begin += kFile.size();
    size_t end = line.find(kLine, begin);
    if (end == std::string_view::npos) {
        return std::nullopt;
    }
    Frame frame{line.substr(begin, end - begin), 0, stripped(next)};
    std::string_view number = line.substr(end + kLine.size());
    std::from_chars(number.data(), number.data() + number.size(), frame.line);
    return frame;
}

}  // namespace

void find_line(Place& place, std::string_view torch_folder) {
    std::string_view rest = place.trace, next;
    for (bool is_first = false; !is_first;) {
        size_t end_before = rest.rfind('\n');
        is_first = end_before == std::string_view::npos;
        std::string_view line = is_first ? rest : rest.substr(end_before + 1);
        std::optional<Frame> frame = read_frame(line, next);
        next = line;
        rest = rest.substr(0, is_first ? 0 : end_before);
        bool is_user = frame && !frame->file.empty() && frame->file[0] != '<' &&
                       frame->file.find(torch_folder) == std::string_view::npos;
        if (is_user) {
            place.file = frame->file;
            place.line = frame->line;
            place.code = frame->code;
            return;
        }
    }
}

std::shared_ptr<const Place> Places::read(JsonValue metadata) {
    JsonValue modules = metadata["nn_module_stack"], trace = metadata["stack_trace"];
    std::shared_ptr<const Place>& known = known_[{modules.source(), trace.source()}];
    if (known != nullptr) {
        return known;
    }
    auto place = std::make_shared<Place>();
    // Rows of three words: a key, the path of the module, its class.
    std::string stack = modules.text().value_or("");
    place->modules.reserve(static_cast<size_t>(std::count(stack.begin(), stack.end(), ';')) + 1);
    for (std::string_view rest = stack; !rest.empty();) {
        std::string_view row = take(rest, ';');
        auto commas = std::count(row.begin(), row.end(), ',');
        take(row, ',');
        place->module = take(row, ',');
        if (commas == 2) {
            place->modules.emplace_back(place->module, row);
        }
    }
    place->trace = trace.text().value_or("");
    find_line(*place, "site-packages/torch/");
    known = place;
    return place;
}

}  // namespace sardonyx::torch
