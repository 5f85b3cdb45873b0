"""python -m two_phase_skinning: the command two-phase-skin."""

from two_phase_skinning.command import run

if __name__ == "__main__":
    run()
