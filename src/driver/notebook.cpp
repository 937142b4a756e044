#include "driver/notebook.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "driver/diagnostics.h"
#include "elaborate/elaborate.h"
#include "elaborate/files/module.h"
#include "syntax/parse.h"

namespace sardonyx::driver {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = size_t{1} << 28;  // outputs hold pictures
// What put_unknown() leads to, and what is said of it.
constexpr std::string_view kUnknown = "`_` is not defined";

// A text, or a list of its lines.
std::string text_of(const Json& source) {
    if (source.is_string()) {
        return source.get<std::string>();
    }
    std::string text;
    for (const Json& line : source.is_array() ? source : Json::array()) {
        text += line.is_string() ? line.get<std::string>() : std::string();
    }
    return text;
}

bool is_text(const Json& object, const char* name, std::string_view wanted) {
    return object.is_object() && object.contains(name) && object[name].is_string() &&
           object[name].get_ref<const std::string&>() == wanted;
}

// Notebooks that do not say their language are Python's.
bool is_python(const Json& notebook) {
    const Json none = Json::object();
    const Json& metadata = notebook.contains("metadata") ? notebook["metadata"] : none;
    for (auto [group, name] : {std::pair("kernelspec", "language"), {"language_info", "name"}}) {
        if (metadata.is_object() && metadata.contains(group) && metadata[group].is_object() &&
            metadata[group].contains(name)) {
            return is_text(metadata[group], name, "python");
        }
    }
    return true;
}

size_t errors_in(const std::string& text, diagnostics::Diagnostics& found) {
    diagnostics::Sources sources;
    (void)syntax::parse(sources, sources.add("cell", text), found);
    return found.error_count();
}

// Magics of cells whose text is Python all the same.
bool takes_python(std::string_view magic) {
    constexpr std::string_view kNames[] = {"time", "timeit", "capture", "prun"};
    std::string_view name = magic.substr(0, magic.find_first_of(" \t\r\n"));
    return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames);
}

void put_comments(std::string& text) {
    bool is_start = true;
    for (char& c : text) {
        bool is_break = c == '\n' || c == '\r';
        c = is_start && !is_break ? '#' : c;
        is_start = is_break;
    }
}

// A value that nobody knows, in as many bytes.
void put_unknown(std::string& text, size_t begin, size_t end) {
    bool has_room = end - begin >= 3;
    for (size_t i = begin; i < end; ++i) {
        text[i] = has_room && i == begin + 3 ? '#' : has_room && i > begin + 3 ? text[i] : ' ';
    }
    text.replace(begin, has_room ? 3 : 1, has_room ? "_()" : "_");
}

// Where the magic of a line begins; npos: it is none. `x = !ls` and `x = %magic` have one too.
size_t magic_in(std::string_view line) {
    size_t first = line.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) {
        return first;
    }
    if (line[first] == '%' || line[first] == '!' || line[first] == '?') {
        return first;
    }
    size_t last = line.find_last_not_of(" \t\r");
    if (line[last] == '?' && line.find_first_of("#'\"") == std::string_view::npos) {
        return first;
    }
    size_t equals = line.find('=');
    size_t value =
        equals == std::string_view::npos ? equals : line.find_first_not_of(" \t", equals + 1);
    bool is_value = value != std::string_view::npos && (line[value] == '%' || line[value] == '!') &&
                    line.substr(value, 2) != "!=";
    return is_value ? value : std::string_view::npos;
}

}  // namespace

bool is_notebook(std::string_view path) {
    constexpr std::string_view kEnd = ".ipynb";
    return path.size() > kEnd.size() && path.substr(path.size() - kEnd.size()) == kEnd;
}

Result<std::vector<std::string>> notebook_cells(std::string_view json) {
    auto without_outputs = [](int, Json::parse_event_t event, const Json& key) {
        return event != Json::parse_event_t::key || key != "outputs";
    };
    Json notebook = Json::parse(json.begin(), json.end(), without_outputs, false);
    if (notebook.is_discarded() || !notebook.is_object()) {
        return Error{"it is not a JSON object in UTF-8"};
    }
    bool has_format = notebook.contains("nbformat") && notebook["nbformat"].is_number_integer();
    if (has_format && notebook["nbformat"].get<int64_t>() < 4) {
        return Error{"its format is older than 4: open and save it with Jupyter"};
    }
    if (!has_format || !notebook.contains("cells") || !notebook["cells"].is_array()) {
        return Error{"it has no `nbformat` and `cells`"};
    }
    std::vector<std::string> cells;
    for (const Json& cell : is_python(notebook) ? notebook["cells"] : Json::array()) {
        if (is_text(cell, "cell_type", "code")) {
            cells.push_back(cell.contains("source") ? text_of(cell["source"]) : std::string());
        }
    }
    return cells;
}

std::string without_magics(std::string cell) {
    size_t first = cell.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && cell.compare(first, 2, "%%") == 0) {
        if (!takes_python(std::string_view(cell).substr(first + 2))) {
            put_comments(cell);
            return cell;
        }
        cell[first] = '#';
    }
    diagnostics::Diagnostics found;
    if (errors_in(cell, found) == 0) {
        return cell;  // a line may go on with `% x`
    }
    for (size_t begin = 0; begin < cell.size();) {
        size_t end = std::min(cell.find('\n', begin), cell.size());
        size_t magic = magic_in(std::string_view(cell).substr(begin, end - begin));
        if (magic != std::string::npos) {
            put_unknown(cell, begin + magic, end);
        }
        begin = end + 1;
    }
    return cell;
}

elaborate::FileModule* load_notebook(elaborate::Program& program, const std::string& path,
                                     Notebook& notebook) {
    Result<std::string> bytes = read_file(path, kMostBytes);
    auto cells = bytes.ok() ? notebook_cells(*bytes)
                            : Result<std::vector<std::string>>(Error{bytes.error().message});
    if (!cells.ok()) {
        diagnostics::FileId file = program.sources.add(path, "");
        program.diagnostics
            .report(kInvalidNotebook, {file, 0, 0},
                    fmt::format("the notebook cannot be read: {}", cells.error().message))
            .with_help("check the path, and open and save the notebook with Jupyter");
        return nullptr;
    }
    std::string script;
    bool is_python = true;
    for (std::string& cell : *cells) {
        std::string text = without_magics(cell);
        std::string name = fmt::format("{}:cell {}", path, notebook.cells.size() + 1);
        diagnostics::FileId file = program.sources.add(name, std::move(cell));
        notebook.cells.push_back({file, static_cast<uint32_t>(script.size())});
        diagnostics::Diagnostics found;
        is_python = errors_in(text, found) == 0 && is_python;
        for (diagnostics::Diagnostic one : found.items()) {
            for (diagnostics::Label& label : one.labels) {
                label.span.file = file;
            }
            one.edits.clear();
            program.diagnostics.add(std::move(one));
        }
        script += text + "\n";
    }
    if (!is_python) {
        return nullptr;
    }
    std::string place = std::filesystem::path(path).lexically_normal().string();
    elaborate::FileModule* module = elaborate::load_text(program, place, std::move(script));
    if (module != nullptr) {
        notebook.script = module->tree().file;
    }
    return module;
}

void explain_magics(elaborate::Program& program, diagnostics::FileId script) {
    std::vector<diagnostics::Diagnostic> findings(program.diagnostics.items().begin(),
                                                  program.diagnostics.items().end());
    program.diagnostics.clear();
    for (diagnostics::Diagnostic& one : findings) {
        bool is_of_script = !one.labels.empty() && one.labels[0].span.file == script;
        if (is_of_script && one.message == kUnknown) {
            one.message = "IPython commands are not run, so their results are not known";
            one.help = "write the value as a Python literal";
        }
        program.diagnostics.add(std::move(one));
    }
}

void move_to_cells(elaborate::Program& program, const Notebook& notebook,
                   std::vector<diagnostics::Inlay>& types) {
    auto move = [&](diagnostics::Span& span) {
        if (span.file != notebook.script || notebook.cells.empty()) {
            return;
        }
        auto next =
            std::upper_bound(notebook.cells.begin(), notebook.cells.end(), span.begin,
                             [](uint32_t at, const NotebookCell& cell) { return at < cell.begin; });
        const NotebookCell& cell = *std::prev(next);
        auto size = static_cast<uint32_t>(program.sources.text(cell.file).size());
        auto inside = [&](uint32_t at) {
            return at < cell.begin ? 0 : std::min(at - cell.begin, size);
        };
        span = {cell.file, inside(span.begin), inside(span.end)};
    };
    std::vector<diagnostics::Diagnostic> findings(program.diagnostics.items().begin(),
                                                  program.diagnostics.items().end());
    program.diagnostics.clear();
    for (diagnostics::Diagnostic& one : findings) {
        for (diagnostics::Label& label : one.labels) {
            move(label.span);
        }
        for (diagnostics::Edit& edit : one.edits) {
            move(edit.span);
        }
        program.diagnostics.add(std::move(one));
    }
    for (diagnostics::Inlay& type : types) {
        move(type.span);
    }
}

}  // namespace sardonyx::driver
