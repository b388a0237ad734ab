# %% [markdown]
# # The tour in Python
#
# What `leocod run` does, in a few lines of your own: a stream, a learner, and how good it becomes. `make notebook`
# makes this notebook from `docs/tour-in-python.py` and runs it: all that is printed and drawn here came out of it.

# %%
import matplotlib.pyplot as plt
import torch
from matplotlib.patches import Rectangle

import leocod as lc

STEPS, EVERY = 40, 8
torch.set_num_threads(1)

# %% [markdown]
# ## A stream
#
# `Wander` is the built-in world: somebody walks through rooms and looks around. Each step brings 16 frames, and the
# labeller chooses 4 of them to be labelled. The learner never sees labels of the others.


# %%
def make_stream():
    """The same frames and the same labels, whoever learns from them."""
    return lc.Stream(benchmark, lc.RandomLabeller(lc.RandomOptions(per_step=4), seed=0))


benchmark = lc.Wander(lc.WanderOptions(steps=STEPS), seed=0)
first = next(make_stream().arrivals()).step
print(f"{len(first.frames)} frames arrive, {len(first.labels)} of them with labels.")


# %%
def show(marked):
    """Draw frames with boxes, and with the name of the class at each box."""
    _, places = plt.subplots(1, len(marked), figsize=(8, 1.7), squeeze=False, layout="constrained")
    for place, (frame, found) in zip(places[0], marked, strict=True):
        place.imshow(frame.image())
        place.axis("off")
        for (left, top, right, bottom), number in zip(found.boxes, found.classes, strict=True):
            place.add_patch(Rectangle((left, top), right - left, bottom - top, fill=False, color="gold"))
            style = {"facecolor": "gold", "linewidth": 0, "pad": 0.5}
            place.text(left, top, benchmark.classes[number], fontsize=5, bbox=style)


show(first.labelled())

# %% [markdown]
# ## A learner, with Efficient-CLS and without
#
# `ICaRL` replays remembered frames. `EfficientCLS` wraps it, as it wraps any strategy. It adds a slow learner, the
# moving average of the fast one. The slow learner is the one that predicts, and it writes pseudo labels for the frames
# that nobody labelled.


# %%
def learn(learner):
    """Feed the stream to a learner. Returns the steps and the mean AP50, in points, of all evaluations."""
    torch.manual_seed(0)
    evaluator = lc.Evaluator(benchmark.test, benchmark.classes, every=EVERY, last_step=benchmark.steps - 1)
    steps, ap = [], []
    for event in lc.run_stream(make_stream(), learner, evaluator):
        if isinstance(event, lc.Evaluated):
            known = [value for value in event.ap_by_class.values() if value is not None]
            steps.append(event.step + 1)
            ap.append(100 * sum(known) / len(known))
    return steps, ap


bare = lc.ICaRL(lc.Tiny(benchmark.classes))
wrapped = lc.EfficientCLS(lc.ICaRL(lc.Tiny(benchmark.classes)))
curves = {"icarl": learn(bare), "icarl with Efficient-CLS": learn(wrapped)}
for name, (steps, ap) in curves.items():
    print(f"{name}: AP50 {ap[-1]:.1f} after {steps[-1]} steps")

# %% [markdown]
# ## AP over time
#
# AP50 on frames that are held out from the whole walk. The learner has not been in all of these places yet.

# %%
_, axes = plt.subplots(figsize=(7, 3), layout="constrained")
for name, (steps, ap) in curves.items():
    axes.plot(steps, ap, marker="o", label=name)
axes.set(xlabel="step", ylabel="AP50 in points", ylim=(0, 100))
_ = axes.legend()

# %% [markdown]
# One short walk with one seed does not say which is better. [The measurements](../REPRODUCING.md) use longer streams
# and up to three seeds, and say where the plug-in helps and where it does not.
#
# ## What it finds
#
# A learner predicts at any moment. These frames are held out, too; shown are detections with a score above one half.

# %%
held_out = [frame for frame, _ in benchmark.test][:: max(1, STEPS // 4)]
detections = wrapped.predict([frame.image() for frame in held_out])
show([(frame, found.above(0.5)) for frame, found in zip(held_out, detections, strict=True)])

# %% [markdown]
# ## From here
#
# [A strategy of your own](extend/strategy.md) is a short class. [A whole run](extend/run.md) of such parts can be
# stopped and resumed, and has a report. [Metrics](concepts/metrics.md) says what the figures mean.
