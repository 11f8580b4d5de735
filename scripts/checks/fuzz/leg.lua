-- a leg
m1 = 2.0 l1 = 0.4
local joints = { turn = {{0, 0.6, 0.8, 0, 0, 0}}, slide = {{0, 0, 0, 1, 0, 0}, {0, 0, 0, 0, 0, 1}, {0, 1, 0, 0, 0, 0}}, ball = {"JointTypeSpherical"} }
--[[ bodies ]]
bodies = { rod = {mass = m1, com = {0, 0, -l1/2}, inertia = {{0.1, 0, 0}, {0, 0.1, 0}, {0, 0, m1*l1^2/3}}} }
model = {
  gravity = {0, 0.5, -9.81},
  frames = {
    {name = "pelvis", parent = "ROOT", joint = joints.slide, body = bodies.rod, markers = {sacrum = {-0.1, 0, 0.05}}},
    {name = 'thigh', parent = 'pelvis', joint = joints.ball, body = bodies["rod"], joint_frame = {r = {0, 0.1, -0.05}, E = {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}}},
    {name = "shank", parent = "thigh", joint = joints.turn, body = bodies.rod; joint_frame = {r = {0, 0, -l1}}},
    {name = "foot", parent = "shank", body = {mass = 0.5, com = {0.1, 0, 0}}},
  },
  points = {{name = "heel", body = "foot", point = {-0.05, 0, 0}}},
  constraint_sets = { stand = {{constraint_type = "contact", point_name = "heel", normal_sets = {{1, 0, 0}, {0, 0, 1}}}},
    hang = {{constraint_type = "loop", predecessor_body = "thigh", successor_body = "pelvis", axis = {0, 0, 0, 1, 0, 0}}} },
}
return model
