"""Privacy at collection: collectors distort records where they arise, before anyone else sees them."""

from typing import TYPE_CHECKING

from discreet.collect.choose_pq import Choice, Choices, choose_pq
from discreet.collect.client import flip
from discreet.collect.mask import EMask, Mask
from discreet.core.lazily import lazily

if TYPE_CHECKING:
    from discreet.collect.additive_noise import AdditiveNoise
    from discreet.collect.channels import Channels
    from discreet.collect.conditional_privacy import noise_for_conditional_privacy
    from discreet.collect.correlated_noise import CorrelatedNoise
    from discreet.collect.delta_sketch import DeltaSketch
    from discreet.collect.density import Density
    from discreet.collect.histogram import Histogram
    from discreet.collect.joint_density import JointDensity
    from discreet.collect.joint_histogram import JointHistogram
    from discreet.collect.joint_reconstruction import JointReconstruction
    from discreet.collect.noise import Gaussian, Laplace, Noise, Uniform, noise_from_dict
    from discreet.collect.noise_client import add_noise, report_category, report_unary
    from discreet.collect.randomised_response import RandomisedResponse
    from discreet.collect.reconstruction import NotConvergedWarning, Reconstruction
    from discreet.collect.shares import Shares
    from discreet.collect.sketch_client import sketch_by_delta, sketch_record
    from discreet.collect.sketch_family import SketchFamily
    from discreet.collect.unary_response import UnaryResponse

_HOMES = {
    "AdditiveNoise": "additive_noise",
    "Channels": "channels",
    "CorrelatedNoise": "correlated_noise",
    "DeltaSketch": "delta_sketch",
    "Density": "density",
    "Gaussian": "noise",
    "Histogram": "histogram",
    "JointDensity": "joint_density",
    "JointHistogram": "joint_histogram",
    "JointReconstruction": "joint_reconstruction",
    "Laplace": "noise",
    "Noise": "noise",
    "NotConvergedWarning": "reconstruction",
    "RandomisedResponse": "randomised_response",
    "Reconstruction": "reconstruction",
    "Shares": "shares",
    "SketchFamily": "sketch_family",
    "UnaryResponse": "unary_response",
    "Uniform": "noise",
    "add_noise": "noise_client",
    "noise_for_conditional_privacy": "conditional_privacy",
    "noise_from_dict": "noise",
    "report_category": "noise_client",
    "report_unary": "noise_client",
    "sketch_by_delta": "sketch_client",
    "sketch_record": "sketch_client",
}
"""What is loaded when it is first used."""

__all__ = [
    "AdditiveNoise",
    "Channels",
    "Choice",
    "Choices",
    "CorrelatedNoise",
    "DeltaSketch",
    "Density",
    "EMask",
    "Gaussian",
    "Histogram",
    "JointDensity",
    "JointHistogram",
    "JointReconstruction",
    "Laplace",
    "Mask",
    "Noise",
    "NotConvergedWarning",
    "RandomisedResponse",
    "Reconstruction",
    "Shares",
    "SketchFamily",
    "UnaryResponse",
    "Uniform",
    "add_noise",
    "choose_pq",
    "flip",
    "noise_for_conditional_privacy",
    "noise_from_dict",
    "report_category",
    "report_unary",
    "sketch_by_delta",
    "sketch_record",
]

__getattr__ = lazily(__name__, _HOMES)
