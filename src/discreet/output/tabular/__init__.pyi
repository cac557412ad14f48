from discreet.core.tables.cell_table import CellTable as CellTable

from .rounding import ControlledRounding as ControlledRounding
from .suppression import CellSuppression as CellSuppression
from .tabulation import Tabulation as Tabulation
