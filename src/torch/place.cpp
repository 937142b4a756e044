#include "torch/place.h"

#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sardonyx::torch {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    while (true) {
        size_t end = text.find(separator);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) {
            return parts;
        }
        text.remove_prefix(end + 1);
    }
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
    std::vector<std::string_view> lines = split(place.trace, '\n');
    for (size_t i = lines.size(); i-- > 0;) {
        std::optional<Frame> frame =
            read_frame(lines[i], i + 1 < lines.size() ? lines[i + 1] : std::string_view());
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
    std::string stack = modules.text().value_or("");
    for (std::string_view row : split(stack, ';')) {
        std::vector<std::string_view> parts = split(row, ',');
        place->module = parts.size() > 1 ? parts[1] : std::string_view();
        if (parts.size() == 3) {
            place->modules.emplace_back(parts[1], parts[2]);
        }
    }
    place->trace = trace.text().value_or("");
    find_line(*place, "site-packages/torch/");
    known = place;
    return place;
}

}  // namespace sardonyx::torch
