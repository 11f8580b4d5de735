// Times Pinocchio's algorithms on a model saved by its Python binding: one line "name microseconds" each, medians.
//
//     bench_pinocchio model.txt states.txt [left_foot right_foot]
//
// states.txt: the number of states, then q, v and a of each, separated by blanks; they are taken in turn. A figure is
// the median over 31 repetitions of the mean over those states, in processor time of this thread, with the state's own
// kinematics computed inside, as a caller who has only (q, v, a) would have to. Where Pinocchio has two conventions
// for one quantity, each is timed: whoever reads this takes the better. Contact quantities need the feet.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <vector>

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/cholesky.hpp>
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/frames.hpp>
#include <pinocchio/algorithm/jacobian.hpp>
#include <pinocchio/algorithm/kinematics.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>
#if __has_include(<pinocchio/serialization.hpp>)
#include <pinocchio/serialization.hpp>
#else  // version 3
#include <pinocchio/serialization/model.hpp>
#endif

namespace pin = pinocchio;
using Eigen::MatrixXd;
using Eigen::VectorXd;

struct States {
    std::vector<VectorXd> q, v, a;
};

static double now() {  // microseconds of this thread: others on the machine do not count
    timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * t.tv_sec + 1e-3 * t.tv_nsec;
}

template <class Run>
double timed(const Run& run, int inner, int states) {
    const double begin = now();
    for (int i = 0; i < inner; ++i)
        for (int k = 0; k < states; ++k) run(k);
    return (now() - begin) / (double(inner) * states);
}

template <class Run>
void report(const char* name, int states, const Run& run) {
    const int repetitions = 31;
    const double once = timed(run, 1, states);
    const int inner = std::max(1, int(1000.0 / (once * states)));  // about a millisecond a repetition
    std::vector<double> times;
    for (int r = 0; r < repetitions; ++r) times.push_back(timed(run, inner, states));
    std::nth_element(times.begin(), times.begin() + repetitions / 2, times.end());
    std::printf("%s %.6f\n", name, times[repetitions / 2]);
}

static States read(const char* path, const pin::Model& model) {
    std::ifstream file(path);
    int count = 0;
    file >> count;
    States s;
    const auto take = [&](int n) {
        VectorXd x(n);
        for (int i = 0; i < n; ++i) file >> x[i];
        return x;
    };
    for (int k = 0; k < count; ++k) {
        s.q.push_back(take(model.nq));
        s.v.push_back(take(model.nv));
        s.a.push_back(take(model.nv));
    }
    if (!file) s.q.clear();
    return s;
}

static void free_motion(const pin::Model& model, const States& s) {
    pin::Data data(model);
    pin::Model weightless(model);
    weightless.gravity.setZero();
    const VectorXd still = VectorXd::Zero(model.nv);
    VectorXd x(model.nv);
    const int n = int(s.q.size());
    const auto world = pin::Convention::WORLD, local = pin::Convention::LOCAL;
    const auto both = [&](int k, pin::Convention convention) {
        pin::nonLinearEffects(model, data, s.q[k], s.v[k]);
        pin::crba(model, data, s.q[k], convention);
    };
    const auto solved = [&](int k, pin::Convention convention) {
        both(k, convention);
        pin::cholesky::decompose(model, data);
        x.noalias() = s.a[k] - data.nle;
        pin::cholesky::solve(model, data, x);
    };
    report("ID", n, [&](int k) { pin::rnea(model, data, s.q[k], s.v[k], s.a[k]); });
    report("C", n, [&](int k) { pin::nonLinearEffects(model, data, s.q[k], s.v[k]); });
    report("H", n, [&](int k) { pin::crba(model, data, s.q[k], world); });
    report("H", n, [&](int k) { pin::crba(model, data, s.q[k], local); });
    report("FD", n, [&](int k) { pin::aba(model, data, s.q[k], s.v[k], s.a[k], world); });
    report("FD", n, [&](int k) { pin::aba(model, data, s.q[k], s.v[k], s.a[k], local); });
    report("EoM", n, [&](int k) { both(k, world); });
    report("EoM", n, [&](int k) { both(k, local); });
    report("FD_HC", n, [&](int k) { solved(k, world); });
    report("FD_HC", n, [&](int k) { solved(k, local); });
    // H^-1 tau: forward dynamics at rest without gravity
    report("Minv", n, [&](int k) { pin::aba(weightless, data, s.q[k], still, s.a[k], world); });
    report("Minv", n, [&](int k) { pin::aba(weightless, data, s.q[k], still, s.a[k], local); });
    report("H_inv", n, [&](int k) { pin::computeMinverse(model, data, s.q[k]); });
    report("dID", n, [&](int k) { pin::computeRNEADerivatives(model, data, s.q[k], s.v[k], s.a[k]); });
    report("dFD", n, [&](int k) { pin::computeABADerivatives(model, data, s.q[k], s.v[k], s.a[k]); });
}

static void contacts(const pin::Model& model, const States& s, const pin::FrameIndex (&feet)[2]) {
    pin::Data data(model);
    const VectorXd still = VectorXd::Zero(model.nv);
    const auto axes = pin::LOCAL_WORLD_ALIGNED;
    MatrixXd G(12, model.nv);
    VectorXd gamma(12);
    pin::Data::Matrix6x J(6, model.nv);
    const int n = int(s.q.size());
    const auto hessian = [&](int k) {
        pin::forwardKinematics(model, data, s.q[k], s.v[k], still);
        for (int f = 0; f < 2; ++f)
            gamma.segment<6>(6 * f) = -pin::getFrameClassicalAcceleration(model, data, feet[f], axes).toVector();
    };
    report("G", n, [&](int k) {  // of each foot by itself, along its own branch
        for (int f = 0; f < 2; ++f) {
            J.setZero();
            pin::computeFrameJacobian(model, data, s.q[k], feet[f], axes, J);
            G.middleRows<6>(6 * f) = J;
        }
    });
    report("gamma", n, hessian);
    report("EoMc", n, [&](int k) {  // what one algorithm leaves behind serves the next: J after crba in world axes
        pin::crba(model, data, s.q[k], pin::Convention::WORLD);
        for (int f = 0; f < 2; ++f) {
            J.setZero();
            pin::getFrameJacobian(model, data, feet[f], axes, J);
            G.middleRows<6>(6 * f) = J;
        }
        pin::nonLinearEffects(model, data, s.q[k], s.v[k]);
        hessian(k);
    });
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintModel) models;
    PINOCCHIO_STD_VECTOR_WITH_EIGEN_ALLOCATOR(pin::RigidConstraintData) datas;
    for (const auto foot : feet) {
        const auto& frame = model.frames[foot];
        models.emplace_back(pin::CONTACT_6D, model, frame.parentJoint, frame.placement, axes);
        datas.emplace_back(models.back());
    }
#if PINOCCHIO_MAJOR_VERSION < 4
    pin::initConstraintDynamics(model, data, models);
#else
    pin::initConstraintDynamics(model, data, models, datas);
#endif
    report("FDc", n, [&](int k) { pin::constraintDynamics(model, data, s.q[k], s.v[k], s.a[k], models, datas); });
}

int main(int argc, char** argv) {
    if (argc != 3 && argc != 5) return 2;
    pin::Model model;
    model.loadFromText(argv[1]);
    const States states = read(argv[2], model);
    if (states.q.empty()) return 3;
    free_motion(model, states);
    if (argc == 5) contacts(model, states, {model.getFrameId(argv[3]), model.getFrameId(argv[4])});
    return 0;
}
