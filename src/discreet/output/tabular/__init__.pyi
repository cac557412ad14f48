from discreet.core.tabular.cell_table import CellTable as CellTable

from .rounding import ControlledRounding as ControlledRounding
from .suppression import CellSuppression as CellSuppression
from .tabulation import Tabulation as Tabulation
