"""Privacy at collection: collectors distort records where they arise, before anyone else sees them."""

from typing import TYPE_CHECKING

from discreet.collect.choose_pq import Choice, Choices, choose_pq
from discreet.collect.clients.mask import flip
from discreet.collect.mask import EMask, Mask
from discreet.core.lazy import lazily

if TYPE_CHECKING:
    from discreet.collect.additive_noise import AdditiveNoise
    from discreet.collect.category_estimates import Shares
    from discreet.collect.channels import Channels
    from discreet.collect.clients.noise import add_noise, report_category, report_unary
    from discreet.collect.conditional_privacy import noise_for_conditional_privacy
    from discreet.collect.correlated_noise import CorrelatedNoise
    from discreet.collect.noise import Gaussian, Laplace, Noise, Uniform, noise_from_dict
    from discreet.collect.randomized_response import RandomizedResponse
    from discreet.collect.reconstruct.density import Density
    from discreet.collect.reconstruct.histogram import Histogram
    from discreet.collect.reconstruct.joint_density import JointDensity
    from discreet.collect.reconstruct.joint_histogram import JointHistogram
    from discreet.collect.reconstruct.joint_reconstruction import JointReconstruction
    from discreet.collect.reconstruct.reconstruction import NotConvergedWarning, Reconstruction
    from discreet.collect.unary_response import UnaryResponse

_HOMES = {
    "AdditiveNoise": "additive_noise",
    "Channels": "channels",
    "CorrelatedNoise": "correlated_noise",
    "Density": "reconstruct.density",
    "Gaussian": "noise",
    "Histogram": "reconstruct.histogram",
    "JointDensity": "reconstruct.joint_density",
    "JointHistogram": "reconstruct.joint_histogram",
    "JointReconstruction": "reconstruct.joint_reconstruction",
    "Laplace": "noise",
    "Noise": "noise",
    "NotConvergedWarning": "reconstruct.reconstruction",
    "RandomizedResponse": "randomized_response",
    "Reconstruction": "reconstruct.reconstruction",
    "Shares": "category_estimates",
    "UnaryResponse": "unary_response",
    "Uniform": "noise",
    "add_noise": "clients.noise",
    "noise_for_conditional_privacy": "conditional_privacy",
    "noise_from_dict": "noise",
    "report_category": "clients.noise",
    "report_unary": "clients.noise",
}
"""What is loaded when it is first used."""

__all__ = [
    "AdditiveNoise",
    "Channels",
    "Choice",
    "Choices",
    "CorrelatedNoise",
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
    "RandomizedResponse",
    "Reconstruction",
    "Shares",
    "UnaryResponse",
    "Uniform",
    "add_noise",
    "choose_pq",
    "flip",
    "noise_for_conditional_privacy",
    "noise_from_dict",
    "report_category",
    "report_unary",
]

__getattr__ = lazily(__name__, _HOMES)
