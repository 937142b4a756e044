// Calls functions of the C interface in an order that the input draws, with handles that are NULL
// or of another kind, and with views whose sizes are wrong. Handles that were freed are not among
// them.
#include <sardonyx/c.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr const char* kScripts[] = {
    "from sardonyx import FLOAT, opset18 as op, script\n"
    "@script()\ndef f(x: FLOAT['N'], y: FLOAT['N']):\n    return op.Identity(x), x + y\n",
    "from sardonyx import opset18 as op, script\n"
    "@script()\ndef f(x):\n    return op.SequenceAt(x, op.Constant(value_int=0))\n",
};

class Draw {
  public:
    Draw(const uint8_t* data, size_t size) : data_(data), size_(size) {}
    uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
    bool is_done() const { return at_ >= size_; }
    // Mostly small, sometimes extreme.
    int64_t number() {
        uint8_t drawn = byte();
        return drawn < 200 ? drawn % 6 : drawn < 230 ? -1 : drawn < 245 ? INT64_MAX : INT64_MIN;
    }

  private:
    const uint8_t* data_;
    size_t size_;
    size_t at_ = 0;
};

struct Handles {
    std::vector<sdx_value*> values{nullptr};
    std::vector<sdx_model*> models{nullptr};

    const sdx_value* value(Draw& draw) {
        uint8_t drawn = draw.byte();
        if (drawn > 240) {
            return reinterpret_cast<const sdx_value*>(models[drawn % models.size()]);
        }
        return values[drawn % values.size()];
    }
    const sdx_model* model(Draw& draw) {
        uint8_t drawn = draw.byte();
        if (drawn > 240) {
            return reinterpret_cast<const sdx_model*>(values[drawn % values.size()]);
        }
        return models[drawn % models.size()];
    }
    void keep(sdx_value* value) {
        if (value != nullptr && values.size() < 64) {
            values.push_back(value);
        } else {
            sdx_value_free(value);
        }
    }
    ~Handles() {
        for (sdx_value* value : values) {
            sdx_value_free(value);
        }
        for (sdx_model* model : models) {
            sdx_model_free(model);
        }
    }
};

void drop(sdx_error* error) {
    if (error != nullptr && sdx_error_message(error)[0] == 0) {
        __builtin_trap();  // an error says something
    }
    sdx_finding finding{};
    sdx_edit edit{};
    for (size_t i = 0; i < sdx_error_finding_count(error); ++i) {
        sdx_error_free(sdx_error_finding(error, i, &finding));
        for (size_t k = 0; k <= finding.edit_count; ++k) {
            sdx_error_free(sdx_error_edit(error, i, k, &edit));
        }
    }
    sdx_error_free(error);
}

struct DrawnView {
    std::array<int64_t, 8> dims{};
    std::array<float, 16> numbers{};
    sdx_view view{};

    explicit DrawnView(Draw& draw) {
        for (int64_t& dim : dims) {
            dim = draw.number();
        }
        auto rank = static_cast<int32_t>(draw.number());
        view = {static_cast<int32_t>(draw.byte() % 32), rank > 8 ? 65 : rank, dims.data(),
                numbers.data(), draw.byte() % (sizeof numbers + 1)};
        if (draw.byte() > 100) {  // a view that is right
            dims[0] = draw.byte() % 4;
            view = {SDX_FLOAT, 1, dims.data(), numbers.data(),
                    static_cast<size_t>(dims[0]) * sizeof(float)};
        }
        if (draw.byte() > 240) {
            view.data = nullptr;
        }
    }
};

void look_at(const sdx_value* value) {
    sdx_view view{};
    drop(sdx_value_view(value, &view));
    if (view.data != nullptr && view.size > 0) {
        volatile uint8_t last = static_cast<const uint8_t*>(view.data)[view.size - 1];
        static_cast<void>(last);
    }
    const char* text = nullptr;
    drop(sdx_value_text(value, 0, &text, nullptr));
    static_cast<void>(sdx_value_count(value));
    static_cast<void>(sdx_value_kind(value));
}

void make_value(Draw& draw, Handles& handles) {
    sdx_value* made = nullptr;
    std::array<const sdx_value*, 3> items{handles.value(draw), handles.value(draw),
                                          handles.value(draw)};
    DrawnView drawn(draw);
    const char* texts[] = {"a", "b", nullptr};
    switch (draw.byte() % 8) {
        case 0:
            drop(sdx_value_zeros(drawn.view.element_type, drawn.dims.data(),
                                 std::min(drawn.view.rank, 7), &made));
            break;
        case 1: {
            auto* copy = new DrawnView(drawn);
            copy->view.dims = copy->dims.data();
            copy->view.data = drawn.view.data == nullptr ? nullptr : copy->numbers.data();
            sdx_error* error = sdx_value_borrow(
                &copy->view, [](void* context) { delete static_cast<DrawnView*>(context); }, copy,
                &made);
            if (error != nullptr) {
                delete copy;
            }
            drop(error);
            break;
        }
        case 2:
            drop(sdx_value_strings(texts, nullptr, draw.byte() % 4, drawn.dims.data(),
                                   drawn.view.rank, &made));
            break;
        case 3:
            drop(sdx_value_sequence(drawn.view.element_type, items.data(), draw.byte() % 4, &made));
            break;
        case 4:
            drop(sdx_value_map(items[0], items[1], &made));
            break;
        case 5:
            drop(sdx_value_item(items[0], draw.byte() % 3, &made));
            break;
        case 6:
            drop(sdx_value_keys(items[0], &made));
            break;
        default:
            drop(sdx_value_values(items[0], &made));
            break;
    }
    look_at(made);
    handles.keep(made);
}

void run_model(Draw& draw, Handles& handles) {
    const sdx_model* model = handles.model(draw);
    std::array<const sdx_value*, 4> inputs{handles.value(draw), handles.value(draw),
                                           handles.value(draw), nullptr};
    size_t input_count = draw.byte() % 5;
    size_t output_count = draw.byte() % 4;
    sdx_run_options options{draw.byte(), draw.number(), 1};
    if (draw.byte() % 2 == 0) {
        std::array<sdx_value*, 4> outputs{};
        drop(sdx_model_run(model, inputs.data(), input_count, &options, outputs.data(),
                           output_count));
        for (sdx_value* output : outputs) {
            look_at(output);
            handles.keep(output);
        }
        return;
    }
    std::vector<DrawnView> drawn;
    drawn.reserve(4);  // the views point into it
    std::vector<sdx_view> views;
    for (size_t i = 0; i < output_count; ++i) {
        drawn.emplace_back(draw);
        drawn.back().view.dims = drawn.back().dims.data();
        if (drawn.back().view.data != nullptr) {
            drawn.back().view.data = drawn.back().numbers.data();
        }
        views.push_back(drawn.back().view);
    }
    drop(sdx_model_run_into(model, inputs.data(), input_count, &options, views.data(),
                            output_count));
}

void make_model(Draw& draw, Handles& handles) {
    sdx_model* made = nullptr;
    const char* types[] = {"x=FLOAT[2]", "x", nullptr};
    sdx_compile_options options{};
    options.input_types = draw.byte() % 2 == 0 ? types : nullptr;
    options.input_type_count = draw.byte() % 4;
    options.as_function = draw.byte() % 3 == 0 ? 1 : 0;
    std::string text = kScripts[draw.byte() % 2];
    if (draw.byte() % 2 == 0) {
        text.resize(draw.byte() % text.size());
    }
    drop(sdx_compile_text(text.data(), text.size(), nullptr,
                          draw.byte() % 2 == 0 ? nullptr : &options, &made));
    const char* paths[] = {"f.py", nullptr};
    const char* held[] = {text.c_str(), nullptr};
    sdx_check_options checked{paths, held, draw.byte() % 3U, nullptr, draw.byte() / 250U};
    sdx_error* report = nullptr;
    drop(sdx_check_files(nullptr, draw.byte() / 250U, &checked, &report));
    drop(report);
    if (made != nullptr && handles.models.size() < 8) {
        handles.models.push_back(made);
    } else {
        sdx_model_free(made);
    }
}

// A kernel that does what the input draws.
struct KernelContext {
    Draw& draw;
    Handles& handles;
};

sdx_error* run_kernel(sdx_call* call, void* context) {
    auto& [draw, handles] = *static_cast<KernelContext*>(context);
    const sdx_value* input = nullptr;
    drop(sdx_call_input(call, draw.byte() % 3, &input));
    look_at(input);
    sdx_argument attribute{};
    drop(sdx_call_attribute(call, draw.byte() % 8 == 0 ? nullptr : "alpha", &attribute));
    for (size_t i = 0; i < sdx_call_output_count(call) && draw.byte() < 230; ++i) {
        drop(sdx_call_set_output(call, i + draw.byte() / 250, handles.value(draw)));
    }
    uint8_t end = draw.byte();
    return end > 250   ? reinterpret_cast<sdx_error*>(handles.models.back())
           : end > 220 ? sdx_error_new("as drawn")
                       : nullptr;
}

// An operator at once, with arguments of any kind.
void evaluate(Draw& draw, Handles& handles) {
    constexpr const char* kOperators[] = {"Add",  "Concat",  "Split", "Cast", "Gather",
                                          "Clip", "Softmax", "TopK",  "If",   "Mine"};
    constexpr const char* kNames[] = {nullptr, nullptr, nullptr,       "axis",       "to",
                                      "alpha", "min",   "num_outputs", "then_branch"};
    constexpr const char* kTexts[] = {"a", "b", nullptr};
    std::array<std::array<int64_t, 4>, 4> ints{};
    constexpr std::array<double, 4> kFloats{0, 1.5, -1e300, 3};
    std::array<sdx_argument, 4> arguments{};
    for (size_t i = 0; i < arguments.size(); ++i) {
        for (int64_t& number : ints[i]) {
            number = draw.number();
        }
        bool is_null = draw.byte() > 240;
        size_t count = draw.byte() % 4;
        arguments[i] = {kNames[draw.byte() % 9],
                        draw.byte() % 9,
                        handles.value(draw),
                        is_null ? nullptr : ints[i].data(),
                        is_null ? nullptr : kFloats.data(),
                        is_null ? nullptr : kTexts,
                        is_null ? SIZE_MAX : count};
    }
    KernelContext context{draw, handles};
    sdx_kernels* kernels = nullptr;
    drop(sdx_kernels_new(&kernels));
    const char* domain = draw.byte() > 200 ? "" : "mine";
    drop(sdx_kernels_add(kernels, domain, "Mine", run_kernel, &context, nullptr));
    std::array<sdx_value*, 3> outputs{};
    drop(sdx_evaluate(draw.byte() % 4 == 0 ? "mine" : "", draw.byte() > 240 ? draw.number() : 18,
                      kOperators[draw.byte() % 10], arguments.data(), draw.byte() % 5,
                      draw.byte() > 240 ? nullptr : kernels, nullptr, nullptr, outputs.data(),
                      draw.byte() % 4));
    for (sdx_value* output : outputs) {
        look_at(output);
        handles.keep(output);
    }
    sdx_model* made = nullptr;
    drop(sdx_model_with_kernels(handles.model(draw), kernels, &made));
    sdx_kernels_free(kernels);
    drop(sdx_model_prepare(made));
    sdx_model_free(made);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    Draw draw(data, size);
    Handles handles;
    sdx_model* whole = nullptr;
    drop(sdx_compile_text(kScripts[0], std::string(kScripts[0]).size(), nullptr, nullptr, &whole));
    handles.models.push_back(whole);
    for (int step = 0; step < 64 && !draw.is_done(); ++step) {
        switch (draw.byte() % 10) {
            case 8:
            case 9:
                evaluate(draw, handles);
                break;
            case 0:
                make_model(draw, handles);
                break;
            case 1:
            case 2:
            case 3:
                run_model(draw, handles);
                break;
            case 4: {
                const char* name = nullptr;
                drop(sdx_model_input(handles.model(draw), draw.byte() % 4, &name, nullptr));
                drop(sdx_model_output(handles.model(draw), draw.byte() % 4, nullptr, &name));
                drop(sdx_model_prepare(handles.model(draw)));
                break;
            }
            default:
                make_value(draw, handles);
                break;
        }
    }
    return 0;
}
