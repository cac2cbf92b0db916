"""Order of the gallery: as a person would read it."""

LESSONS = [
    # A whole story, then the first steps.
    "first_story",
    "quickstart",
    "pandas_pipeline",
    "ask_and_tell",
    "labelling_campaign",
    # What else the labels answer.
    "several_losses",
    "rare_class",
    "slices",
    "own_metric",
    "choose_model",
    "judge",
    "regression",
    "pool_on_disk",
    # How it works, and parts to replace.
    "missing_class",
    "anatomy",
    "zero_shot",
    "tune_surrogate",
    "deep_ensemble",
    "write_your_own",
]


class Lessons:
    """Sort key of sphinx-gallery; scripts that are not listed come last."""

    def __init__(self, source_dir):
        self.source_dir = source_dir

    def __call__(self, filename):
        name = filename.removeprefix("plot_").removesuffix(".py")
        place = LESSONS.index(name) if name in LESSONS else len(LESSONS)
        return place, name
