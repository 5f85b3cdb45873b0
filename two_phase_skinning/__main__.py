"""python -m two_phase_skinning: the command two-phase-skin."""

from two_phase_skinning.command import main

if __name__ == "__main__":
    raise SystemExit(main())
