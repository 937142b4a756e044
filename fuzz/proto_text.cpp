// Any text as a model in each form that is text: an error, or bytes whose text in that form gives
// the same bytes, and a text for people.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "proto/forms.h"

namespace {

namespace proto = sardonyx::proto;

void check_form(std::string_view text, proto::Form form) {
    sardonyx::Result<std::string> bytes = proto::bytes_of_text(text, form);
    if (!bytes.ok()) {
        SDX_CHECK(!bytes.error().message.empty());
        return;
    }
    sardonyx::Result<std::string> shown = proto::shown_text_of_model(*bytes, 2);
    SDX_CHECK(shown.ok());
    sardonyx::Result<std::string> again = proto::text_of_model(*bytes, form);
    if (!again.ok()) {
        SDX_CHECK(!again.error().message.empty());
        return;
    }
    sardonyx::Result<std::string> twice = proto::bytes_of_text(*again, form);
    SDX_CHECK(twice.ok());
    SDX_CHECK(form == proto::Form::kOnnxText || *twice == *bytes);
    // What the text of onnx cannot say has been left out once.
    sardonyx::Result<std::string> last = proto::text_of_model(*twice, form);
    SDX_CHECK(last.ok());
    sardonyx::Result<std::string> thrice = proto::bytes_of_text(*last, form);
    SDX_CHECK(thrice.ok() && *thrice == *twice);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    if (size == 0) {
        return 0;
    }
    std::string_view text(reinterpret_cast<const char*>(data), size);
    switch (text[0]) {
        case '{':
            check_form(text, proto::Form::kJson);
            break;
        case '<':
            check_form(text, proto::Form::kOnnxText);
            break;
        default:
            check_form(text, proto::Form::kTextProto);
            check_form(text, proto::Form::kOnnxText);
    }
    return 0;
}
