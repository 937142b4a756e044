// The extension `sardonyx._core`.
#include <cstdlib>

#include "bindings/bindings.h"
#include "bindings/signature.h"
#include "ops/ops.h"

NB_MODULE(_core, m) {
    using namespace sardonyx::python;
#ifdef NDEBUG
    // Threads that never end, debuggers and test runners hold objects at exit; users need no report
    // of that. The project's tests ask for the reports in processes that they start.
    nb::set_leak_warnings(std::getenv("SARDONYX_LEAKS") != nullptr);
#endif
    m.doc() = "The native part of sardonyx: tensors, operators, scripts and models.";
    m.attr("onnx_version") = text_to_python(sardonyx::ops::onnx_version());
    bind_errors(m);
    bind_interrupt(m);
    bind_tensor(m);
    bind_opset(m);
    bind_schemas(m);
    bind_script(m);
    bind_model(m);
    bind_weights(m);
    bind_torch_file(m);
    bind_signature(m);
}
