from .rules.association_rules import AssociationRules as AssociationRules
from .rules.joint_rules import JointRules as JointRules
