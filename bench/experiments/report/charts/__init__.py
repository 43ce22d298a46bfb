"""The functions of the report's sections, in their order. Each returns a section, or None if the results have no rows for it."""

from experiments.report.charts.bottlenecks import shift
from experiments.report.charts.devices import back_ends
from experiments.report.charts.grids import grids
from experiments.report.charts.joins import joins
from experiments.report.charts.lengths import lengths
from experiments.report.charts.pareto import pareto
from experiments.report.charts.savings import savings
from experiments.report.charts.scaling import scaling
from experiments.report.charts.speedups import speedups
from experiments.report.charts.stages import stages
from experiments.report.charts.stores import stores
from experiments.report.charts.throughput import cutting, cutting_by_gpu, engine
from experiments.report.charts.tunes import tunes

SECTIONS = (savings, pareto, engine, cutting, cutting_by_gpu, speedups, back_ends, scaling, stages, shift, lengths, joins, grids, tunes, stores)
