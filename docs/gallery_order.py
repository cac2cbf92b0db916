"""Order of the gallery: as a person would read it."""

LESSONS = [
    "quickstart",
    "anatomy",
    "missing_class",
    "several_losses",
    "rare_class",
    "slices",
    "judge",
    "choose_model",
    "ask_and_tell",
    "labelling_campaign",
    "pandas_pipeline",
    "regression",
    "zero_shot",
    "tune_surrogate",
    "deep_ensemble",
    "pool_on_disk",
    "pool_on_dask",
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
