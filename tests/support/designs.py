"""Tasks and methods of an experiment by their names."""

import warnings

from bayesmend.errors import ShortfallWarning
from experiments.data import DataFolder
from experiments.design import Run

NOWHERE = DataFolder(None)


def task_of(experiment, name, repetition=0, folder=NOWHERE):
    setting = next(s for s in experiment.settings if s.name == name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ShortfallWarning)
        return experiment.make(Run(setting, repetition, experiment.seed), folder)


def method_of(experiment, name):
    return next(m for m in experiment.methods if m.name == name)
