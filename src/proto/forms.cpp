#include "proto/forms.h"

#include <iterator>

#include "base/utf8.h"
#include "proto/document.h"
#include "proto/json_form.h"
#include "proto/onnx_text_reader.h"
#include "proto/onnx_text_writer.h"
#include "proto/text_format.h"

namespace sardonyx::proto {
namespace {

struct Ending {
    std::string_view ending;
    Form form;
};

constexpr Ending kEndings[] = {
    {".onnxtxt", Form::kOnnxText},   {".onnxtext", Form::kOnnxText},   {".json", Form::kJson},
    {".onnxjson", Form::kJson},      {".textproto", Form::kTextProto}, {".txtpb", Form::kTextProto},
    {".prototxt", Form::kTextProto}, {".pbtxt", Form::kTextProto},
};

}  // namespace

Form form_of_path(std::string_view path) {
    for (const Ending& row : kEndings) {
        if (path.size() > row.ending.size() &&
            path.substr(path.size() - row.ending.size()) == row.ending) {
            return row.form;
        }
    }
    return Form::kBytes;
}

Form form_of_name(std::string_view name) {
    for (size_t i = 0; i < std::size(kFormNames); ++i) {
        if (kFormNames[i] == name) {
            return static_cast<Form>(i);
        }
    }
    return Form::kBytes;
}

Result<std::string> text_of_model(std::string_view bytes, Form form) {
    if (form == Form::kBytes) {
        return std::string(bytes);
    }
    Document document(kModelProto);
    SDX_TRY(read_wire(bytes, document));
    switch (form) {
        case Form::kJson:
            return write_json(document.root());
        case Form::kTextProto:
            return write_text_format(document.root());
        default:
            return write_onnx_text(document.root());
    }
}

Result<std::string> shown_text_of_model(std::string_view bytes, int64_t most_elements) {
    Document document(kModelProto);
    SDX_TRY(read_wire(bytes, document));
    return show_onnx_text(document.root(), most_elements);
}

Result<std::string> bytes_of_text(std::string_view text, Form form) {
    if (form == Form::kBytes) {
        return std::string(text);
    }
    if (!is_utf8(text)) {
        return Error{"the text is not UTF-8"};
    }
    Document document(kModelProto);
    switch (form) {
        case Form::kJson:
            SDX_TRY(read_json(text, document));
            break;
        case Form::kTextProto:
            SDX_TRY(read_text_format(text, document));
            break;
        default:
            SDX_TRY(read_onnx_text(text, document));
    }
    return write_wire(document.root());
}

}  // namespace sardonyx::proto
