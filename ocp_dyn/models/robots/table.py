"""The robots of example-robot-data: files, kinds, and the frames that touch the ground."""

from __future__ import annotations

from typing import Literal, NamedTuple

Kind = Literal["arm", "biped", "flying", "hand", "humanoid", "mechanism", "mobile", "quadruped"]
"""Kinds of robots. A biped stands on points, a humanoid on flat feet; a mobile robot has arms on a base with wheels."""

FREE: tuple[Kind, ...] = ("biped", "flying", "humanoid", "quadruped")
"""Kinds whose base moves freely; the base of the others is fixed to the ground."""


class Robot(NamedTuple):
    """A robot of example-robot-data.

    file: path of the URDF in the package's folder of robots. feet: links or frames under the feet, left before right and front
    before hind; empty where the file has none that is known to touch the ground. sole_height [m]: height of these
    frames above the ground when the robot stands; radius of the ball for feet that are points. sole [m]: half length
    and half width of a flat rectangle inside the sole; None for feet that are points. sole_ahead [m]: of the middle of
    this rectangle in front of the frame. up: the axis of the base link, and of the feet's frames, that points up when
    the robot stands. limits: whether the file's limits of joints are right; those of the simple humanoids stand at the
    wrong joints, so that their knees cannot bend.
    """

    name: str
    kind: Kind
    file: str
    feet: tuple[str, ...] = ()
    sole_height: float = 0.0
    sole: tuple[float, float] | None = None
    sole_ahead: float = 0.0
    up: Literal["x", "y", "z"] = "z"
    limits: bool = True

    @property
    def free(self) -> bool:
        """Whether the robot's base moves freely."""
        return self.kind in FREE


def _legs(*names: str, foot: str) -> tuple[str, ...]:
    return tuple(name + foot for name in names)


UNITREE = _legs("FL", "FR", "RL", "RR", foot="_foot")
ANYMAL = _legs("LF", "RF", "LH", "RH", foot="_FOOT")
SOLO = _legs("FL", "FR", "HL", "HR", foot="_FOOT")
TALOS = ("left_sole_link", "right_sole_link")
G1 = ("left_ankle_roll_link", "right_ankle_roll_link")
SOLES = ("l_sole", "r_sole")
ANKLES = ("l_ankle", "r_ankle")

# Radii of feet and sizes of soles are those of the shapes in the files, boxes, balls or meshes; those of the simple
# humanoids, which have no shapes, stand in the SRDF beside their URDF. Most frames do not lie in the middle of the
# soles, so that a rectangle around a frame is smaller than the sole. The three named alex_... end at the pelvis: they
# have no legs.
ROBOTS = (
    Robot("a1", "quadruped", "a1_description/urdf/a1.urdf", UNITREE, 0.02),
    Robot("alex_nub_hands", "humanoid", "alex_description/urdf/alex_nub_hands.urdf"),
    Robot("alex_psyonic_hands", "humanoid", "alex_description/urdf/alex_psyonic_hands.urdf"),
    Robot("alex_sake_hands", "humanoid", "alex_description/urdf/alex_sake_hands.urdf"),
    Robot("alexander", "humanoid", "alexander_description/urdf/alexander_v1.lowerBodyOnly.urdf",
          ("LEFT_FOOT", "RIGHT_FOOT"), 0.072, (0.095, 0.044), 0.049),
    Robot("allegro_left_hand", "hand", "allegro_hand_description/urdf/allegro_left_hand.urdf"),
    Robot("allegro_right_hand", "hand", "allegro_hand_description/urdf/allegro_right_hand.urdf"),
    Robot("anymal_b", "quadruped", "anymal_b_simple_description/robots/anymal.urdf", ANYMAL),
    Robot("anymal_b_kinova", "quadruped", "anymal_b_simple_description/robots/anymal-kinova.urdf", ANYMAL),
    Robot("anymal_c", "quadruped", "anymal_c_simple_description/urdf/anymal.urdf", ANYMAL, 0.0075),
    Robot("asr_twodof", "mechanism", "asr_twodof_description/urdf/TwoDofs.urdf"),
    Robot("b1", "quadruped", "b1_description/urdf/b1.urdf", UNITREE, 0.04),
    Robot("b1_z1", "quadruped", "b1_description/urdf/b1-z1.urdf", UNITREE, 0.04),
    Robot("baxter", "mobile", "baxter_description/urdf/baxter.urdf"),
    Robot("bolt", "biped", "bolt_description/robots/bolt.urdf", SOLO[:2], 0.016),
    Robot("borinot", "flying", "borinot_description/urdf/borinot_flying_arm_2.urdf"),
    Robot("centauro", "quadruped", "centauro_description/urdf/centauro.urdf",
          ("contact_1", "contact_2", "contact_3", "contact_4")),
    Robot("double_pendulum", "mechanism", "double_pendulum_description/urdf/double_pendulum.urdf"),
    Robot("double_pendulum_continuous", "mechanism",
          "double_pendulum_description/urdf/double_pendulum_continuous.urdf"),
    Robot("double_pendulum_simple", "mechanism", "double_pendulum_description/urdf/double_pendulum_simple.urdf"),
    Robot("finger_edu", "arm", "finger_edu_description/robots/finger_edu.urdf"),
    Robot("g1", "humanoid", "g1_description/urdf/g1_29dof_rev_1_0.urdf", G1, 0.035, (0.08, 0.03)),
    Robot("g1_with_hands", "humanoid", "g1_description/urdf/g1_29dof_with_hand_rev_1_0.urdf", G1, 0.035, (0.08, 0.03)),
    Robot("go1", "quadruped", "go1_description/urdf/go1.urdf", UNITREE, 0.02),
    Robot("go2", "quadruped", "go2_description/urdf/go2.urdf", UNITREE, 0.023),
    Robot("hector", "flying", "hector_description/robots/quadrotor_base.urdf"),
    Robot("hextilt", "flying", "hextilt_description/urdf/hextilt_flying_arm_5.urdf"),
    Robot("human", "humanoid", "human_description/robots/human.urdf",
          ("left_foot", "right_foot"), 0.0765, (0.11, 0.045), 0.06, "y"),
    Robot("hyq", "quadruped", "hyq_description/robots/hyq_no_sensors.urdf",
          _legs("lf", "rf", "lh", "rh", foot="_foot"), 0.02175),
    Robot("icub", "humanoid", "icub_description/robots/icub_reduced.urdf", SOLES, 0.0, (0.06, 0.03)),
    Robot("icub_full", "humanoid", "icub_description/robots/icub.urdf", SOLES, 0.0, (0.06, 0.03)),
    Robot("iris", "flying", "iris_description/robots/iris_simple.urdf"),
    Robot("iris_with_rotors", "flying", "iris_description/robots/iris.urdf"),
    Robot("kinova", "arm", "kinova_description/robots/kinova.urdf"),
    Robot("laikago", "quadruped", "laikago_description/urdf/laikago.urdf", UNITREE, 0.0265),
    Robot("panda", "arm", "panda_description/urdf/panda.urdf"),
    Robot("pr2", "mobile", "pr2_description/urdf/pr2.urdf"),
    Robot("quadruped", "quadruped", "quadruped_description/urdf/quadruped.urdf",
          _legs("FL", "FR", "BL", "BR", foot="_contact"), 0.025),
    Robot("romeo", "humanoid", "romeo_description/urdf/romeo_small.urdf", SOLES, 0.0, (0.08, 0.04)),
    Robot("romeo_full", "humanoid", "romeo_description/urdf/romeo.urdf", SOLES, 0.0, (0.08, 0.04)),
    Robot("romeo_laas", "humanoid", "romeo_description/urdf/romeo_laas_small.urdf", SOLES, 0.0, (0.08, 0.04)),
    Robot("simple_humanoid", "humanoid", "simple_humanoid_description/urdf/simple_humanoid.urdf",
          ANKLES, 0.105, (0.12, 0.065), limits=False),
    Robot("simple_humanoid_classical", "humanoid", "simple_humanoid_description/urdf/simple_humanoid_classical.urdf",
          ANKLES, 0.105, (0.12, 0.065), limits=False),
    Robot("so100", "arm", "so_arm_description/urdf/so100.urdf"),
    Robot("so101", "arm", "so_arm_description/urdf/so101.urdf"),
    Robot("solo8", "quadruped", "solo_description/robots/solo.urdf", SOLO, 0.016),
    Robot("solo12", "quadruped", "solo_description/robots/solo12.urdf", SOLO, 0.016),
    Robot("talos", "humanoid", "talos_data/robots/talos_reduced.urdf", TALOS, 0.0, (0.09, 0.05)),
    Robot("talos_arm", "arm", "talos_data/robots/talos_left_arm.urdf"),
    Robot("talos_boxes", "humanoid", "talos_data/robots/talos_reduced_box.urdf", TALOS, 0.0, (0.09, 0.05)),
    Robot("talos_corrected", "humanoid", "talos_data/robots/talos_reduced_corrected.urdf", TALOS, 0.0, (0.09, 0.05)),
    Robot("talos_full", "humanoid", "talos_data/robots/talos_full_v2.urdf", TALOS, 0.0, (0.09, 0.05)),
    Robot("talos_full_boxes", "humanoid", "talos_data/robots/talos_full_v2_box.urdf", TALOS, 0.0, (0.09, 0.05)),
    Robot("tiago", "mobile", "tiago_description/robots/tiago.urdf"),
    Robot("tiago_dual", "mobile", "tiago_description/robots/tiago_dual.urdf"),
    Robot("tiago_no_hand", "mobile", "tiago_description/robots/tiago_no_hand.urdf"),
    Robot("tiago_pro", "mobile", "tiago_pro_description/robots/tiago_pro.urdf"),
    Robot("ur3", "arm", "ur_description/urdf/ur3_robot.urdf"),
    Robot("ur3_gripper", "arm", "ur_description/urdf/ur3_gripper.urdf"),
    Robot("ur3_limited", "arm", "ur_description/urdf/ur3_joint_limited_robot.urdf"),
    Robot("ur5", "arm", "ur_description/urdf/ur5_robot.urdf"),
    Robot("ur5_gripper", "arm", "ur_description/urdf/ur5_gripper.urdf"),
    Robot("ur5_limited", "arm", "ur_description/urdf/ur5_joint_limited_robot.urdf"),
    Robot("ur10", "arm", "ur_description/urdf/ur10_robot.urdf"),
    Robot("ur10_limited", "arm", "ur_description/urdf/ur10_joint_limited_robot.urdf"),
    Robot("xarm7", "arm", "xarm_description/urdf/xarm7.urdf"),
    Robot("z1", "arm", "z1_description/urdf/z1.urdf"),
)  # fmt: skip
"""All robots that the library knows, by name."""
