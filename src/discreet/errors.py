"""The exceptions: user errors, which are all `DiscreetError`, and internal errors. No message holds a data value."""

from discreet.core.errors import DiscreetError as DiscreetError
from discreet.core.errors import ExistsError as ExistsError
from discreet.core.errors import HierarchyError as HierarchyError
from discreet.core.errors import InfeasibleError as InfeasibleError
from discreet.core.errors import InputError as InputError
from discreet.core.errors import InternalError as InternalError
from discreet.core.errors import NetworkError as NetworkError
from discreet.core.errors import OutputError as OutputError
from discreet.core.errors import ParameterError as ParameterError
from discreet.core.errors import PromiseBrokenError as PromiseBrokenError
from discreet.core.errors import SchemaError as SchemaError
from discreet.core.errors import StrictError as StrictError
