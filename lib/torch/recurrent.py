"""Recurrent networks."""

from sardonyx import graph

from .declare import aten, inline, op
from .products import linear
from .types import cast, wide


@aten("lstm_cell.default")
def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    h, c = hx
    gates = linear(input, w_ih, b_ih) + linear(h, w_hh, b_hh)
    i, f, g, o = op.Split(gates, axis=1, num_outputs=4)
    c = op.Sigmoid(f) * c + op.Sigmoid(i) * op.Tanh(g)
    return op.Sigmoid(o) * op.Tanh(c), c


@aten("gru_cell.default")
def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    r, z, n = op.Split(linear(input, w_ih, b_ih), axis=1, num_outputs=3)
    hr, hz, hn = op.Split(linear(hx, w_hh, b_hh), axis=1, num_outputs=3)
    reset, update = op.Sigmoid(r + hr), op.Sigmoid(z + hz)
    new = op.Tanh(n + reset * hn)
    return new + update * (hx - new)


@aten("rnn_tanh_cell.default")
def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return op.Tanh(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


@aten("rnn_relu_cell.default")
def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    return op.Relu(linear(input, w_ih, b_ih) + linear(hx, w_hh, b_hh))


@inline
def in_float_steps(f, input, hx, params):
    """`f`, whose results are tensors, where no operator of ONNX has BFLOAT16 yet: in FLOAT."""
    if input.dtype == wide(input).dtype:
        return f(input, hx, params)
    states = [wide(one) for one in hx] if isinstance(hx, (list, tuple)) else wide(hx)
    found = f(wide(input), states, [wide(one) for one in params])
    if isinstance(hx, (list, tuple)):  # the state of the cells has its own type in autocast
        return cast(found[0], input.dtype), cast(found[1], input.dtype), cast(found[2], hx[1].dtype)
    return tuple([cast(one, input.dtype) for one in found])


@inline
def by_direction(parts, directions, order):
    """Rows of weights, a part after the other, as ONNX has them: its gates' order, and a dimension
    for the directions."""
    joined = op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]
    gates = len(order)
    hidden = parts[0].shape[0] // gates
    count = len(parts) // directions  # of parts in a direction
    places = [
        [
            ((d * count + part) * gates + gate) * hidden + i
            for part in range(count) for gate in order for i in range(hidden)
        ]
        for d in range(directions)
    ]  # fmt: skip
    return op.Gather(joined, places, axis=0)


@inline
def weights_of(params, layer, directions, has_biases, per_layer, order):
    """W, R and B of ONNX for one layer: a row for each direction."""
    w, r, b = [], [], []
    for d in range(directions):
        first = (layer * directions + d) * per_layer
        w.append(params[first])
        r.append(params[first + 1])
        if has_biases:
            b += [params[first + 2], params[first + 3]]
    return (
        by_direction(w, directions, order),
        by_direction(r, directions, order),
        by_direction(b, directions, order) if has_biases else None,
    )


@inline
def joined_directions(y):
    """[time, direction, batch, hidden] as [time, batch, direction * hidden]."""
    if y.type.shape[1] == 1:
        return op.Squeeze(y, [1])
    y = op.Transpose(y, perm=[0, 2, 1, 3])
    return op.Reshape(y, [0, 0, -1])


@inline
def batch_in_middle(input, batch_first):
    """[time, batch, feature], of [batch, time, feature] or [time, feature]."""
    if input.ndim == 2:
        return op.Unsqueeze(input, [1])
    return op.Transpose(input, perm=[1, 0, 2]) if batch_first else input


@inline
def as_given(x, like, batch_first):
    if like.ndim == 2:
        return op.Squeeze(x, [1])
    return op.Transpose(x, perm=[1, 0, 2]) if batch_first else x


@inline
def state_of(h, layer, directions, is_single):
    h = op.Unsqueeze(h, [1]) if is_single else h
    return op.Slice(h, [layer * directions], [(layer + 1) * directions], [0])


@inline
def states_of(parts, is_single):
    h = op.Concat(*parts, axis=0) if len(parts) > 1 else parts[0]
    return op.Squeeze(h, [1]) if is_single else h


@inline
def projected_steps(x, h, c, params, has_biases, is_backward):
    """One direction of an LSTM with projections, which ONNX's does not have, step by step. `c` may
    have a wider type than the rest, as in autocast."""
    b_ih, b_hh, back = None, None, params[-1]
    if has_biases:
        b_ih, b_hh = params[2], params[3]
    gates = linear(x, params[0], b_ih)

    @graph()
    def step(h, c, row):
        enter, forget, new, leave = op.Split(row + linear(h, params[1], b_hh), axis=1,
                                             num_outputs=4)  # fmt: skip
        c = cast(op.Sigmoid(forget), c.dtype) * c + cast(op.Sigmoid(enter) * op.Tanh(new), c.dtype)
        h = linear(cast(cast(op.Sigmoid(leave), c.dtype) * op.Tanh(c), row.dtype), back)
        return h, c, h

    order = [int(is_backward)]
    h, c, y = op.Scan(h, c, gates, body=step, num_scan_inputs=1, scan_input_directions=order,
                      scan_output_directions=order)  # fmt: skip
    return y, h, c


@inline
def projected_layer(x, h, c, params, has_biases, directions):
    count = len(params) // directions
    ys, hs, cs = [], [], []
    for d in range(directions):
        own = params[d * count : (d + 1) * count]
        y, hd, cd = projected_steps(x, op.Gather(h, d, axis=0), op.Gather(c, d, axis=0), own,
                                    has_biases, d == 1)  # fmt: skip
        ys.append(y)
        hs.append(op.Unsqueeze(hd, [0]))
        cs.append(op.Unsqueeze(cd, [0]))
    if directions == 1:
        return ys[0], hs[0], cs[0]
    return op.Concat(*ys, axis=2), op.Concat(*hs, axis=0), op.Concat(*cs, axis=0)


@aten("lstm.input")
def lstm(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    assert not train or dropout == 0, "dropout in lstm: export after `module.eval()`"
    return in_float_steps(
        lambda x, h, p: lstm_of(x, h, p, has_biases, num_layers, bidirectional, batch_first),
        input, hx, params,
    )  # fmt: skip


@inline
def lstm_of(input, hx, params, has_biases, num_layers, bidirectional, batch_first):
    directions = 2 if bidirectional else 1
    per_layer = 4 if has_biases else 2
    is_single = input.ndim == 2
    x = batch_in_middle(input, batch_first)
    hs, cs = [], []
    if len(params) != per_layer * directions * num_layers:
        for layer in range(num_layers):
            h0 = state_of(hx[0], layer, directions, is_single)
            c0 = state_of(hx[1], layer, directions, is_single)
            first = layer * directions * (per_layer + 1)
            own = params[first : first + directions * (per_layer + 1)]
            x, h, c = projected_layer(x, h0, c0, own, has_biases, directions)
            hs.append(h)
            cs.append(c)
        return as_given(x, input, batch_first), states_of(hs, is_single), states_of(cs, is_single)
    hidden = params[1].shape[1]
    for layer in range(num_layers):
        w, r, b = weights_of(params, layer, directions, has_biases, per_layer, [0, 3, 1, 2])
        h0 = state_of(hx[0], layer, directions, is_single)
        c0 = state_of(hx[1], layer, directions, is_single)
        y, h, c = op.LSTM(x, w, r, b, None, h0, c0, hidden_size=hidden,
                          direction="bidirectional" if bidirectional else "forward")  # fmt: skip
        x = joined_directions(y)
        hs.append(h)
        cs.append(c)
    return as_given(x, input, batch_first), states_of(hs, is_single), states_of(cs, is_single)


@aten("gru.input")
def gru(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    assert not train or dropout == 0, "dropout in gru: export after `module.eval()`"
    return in_float_steps(
        lambda x, h, p: gru_of(x, h, p, has_biases, num_layers, bidirectional, batch_first),
        input, hx, params,
    )  # fmt: skip


@inline
def gru_of(input, hx, params, has_biases, num_layers, bidirectional, batch_first):
    directions = 2 if bidirectional else 1
    per_layer = 4 if has_biases else 2
    hidden = params[1].shape[1]
    is_single = input.ndim == 2
    x = batch_in_middle(input, batch_first)
    hs = []
    for layer in range(num_layers):
        w, r, b = weights_of(params, layer, directions, has_biases, per_layer, [1, 0, 2])
        h0 = state_of(hx, layer, directions, is_single)
        y, h = op.GRU(x, w, r, b, None, h0, hidden_size=hidden, linear_before_reset=1,
                      direction="bidirectional" if bidirectional else "forward")  # fmt: skip
        x = joined_directions(y)
        hs.append(h)
    return as_given(x, input, batch_first), states_of(hs, is_single)


@inline
def simple(activation, input, hx, params, has_biases, num_layers, bidirectional, batch_first):
    directions = 2 if bidirectional else 1
    per_layer = 4 if has_biases else 2
    hidden = params[1].shape[1]
    is_single = input.ndim == 2
    x = batch_in_middle(input, batch_first)
    hs = []
    for layer in range(num_layers):
        w, r, b = weights_of(params, layer, directions, has_biases, per_layer, [0])
        h0 = state_of(hx, layer, directions, is_single)
        y, h = op.RNN(x, w, r, b, None, h0, hidden_size=hidden,
                      activations=[activation] * directions,
                      direction="bidirectional" if bidirectional else "forward")  # fmt: skip
        x = joined_directions(y)
        hs.append(h)
    return as_given(x, input, batch_first), states_of(hs, is_single)


@aten("rnn_tanh.input")
def rnn_tanh(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    assert not train or dropout == 0, "dropout in rnn: export after `module.eval()`"
    return in_float_steps(
        lambda x, h, p: simple("Tanh", x, h, p, has_biases, num_layers, bidirectional, batch_first),
        input, hx, params,
    )  # fmt: skip


@aten("rnn_relu.input")
def rnn_relu(input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first):
    assert not train or dropout == 0, "dropout in rnn: export after `module.eval()`"
    return in_float_steps(
        lambda x, h, p: simple("Relu", x, h, p, has_biases, num_layers, bidirectional, batch_first),
        input, hx, params,
    )  # fmt: skip
