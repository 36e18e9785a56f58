# Copyright 2026 rbd_ros maintainers
# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Shared set-up of the scripts: source it, then call `prepare_environment run` or `prepare_environment test`.
#
# Afterwards $PYTHON is the interpreter of a virtual environment with all requirements, including ROS 2, which runs
# this source tree. Optional variables:
#   RBD_ROS_VENV    virtual environment (default: .venv in the repository, .venv-<distro> with a sourced ROS 2)
#   RBD_ROS_DISTRO  'jazzy' or 'kilted': ROS 2 from wheels of this distribution (default: a sourced ROS 2, or wheels of Jazzy)
#   RBD_ROS_PYTHON  Python for it (default: the first suitable python3 on PATH)
#   RBD_ROS_ROS     'wheels' or 'sourced' instead of automatic detection
# It can be sourced from any directory; links and blanks in paths are supported.

RBD_ROS_ROOT="$(cd -P "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)"
_requirement_files=(setup.py setup.cfg pyproject.toml package.xml scripts/constraints{,_jazzy,_kilted}.txt scripts/setup_environment.sh)

_say() { printf '%s\n' "[set-up] $*" >&2; }

_die() {
    printf '\n' >&2
    printf '[set-up] %s\n' "$@" >&2
    exit 1
}

# Return whether an interpreter exists, works, and is in a range "low high" of 3.x minor versions.
_is_python() {
    "$1" -c "import sys; sys.exit(not (3, $2) <= sys.version_info[:2] <= (3, $3))" >/dev/null 2>&1
}

_find_python() {
    local candidate
    if [ -n "${RBD_ROS_PYTHON:-}" ]; then
        _is_python "$RBD_ROS_PYTHON" 10 99 || _die "RBD_ROS_PYTHON=$RBD_ROS_PYTHON is no working Python >= 3.10."
        _base_python="$RBD_ROS_PYTHON"
        return
    fi
    # ROS 2 wheels exist for 3.10 to 3.14, so these come first.
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if _is_python "$candidate" 10 14 && "$candidate" -c 'import ensurepip, venv' >/dev/null 2>&1; then
            _base_python="$candidate"
            return
        fi
    done
    for candidate in python3 python3.14 python3.13 python3.12 python3.11 python3.10; do
        if _is_python "$candidate" 10 14; then
            _die "$("$candidate" --version 2>&1) is here, but without its venv module." \
                "On Debian and Ubuntu: sudo apt install $(basename "$candidate")-venv"
        fi
    done
    if command -v python3 >/dev/null 2>&1; then
        _die "$(python3 --version 2>&1) does not do: rbd_ros needs Python 3.10 to 3.14." \
            'Install one of these, or name one: RBD_ROS_PYTHON=/path/to/python3.12'
    fi
    _die 'No python3 found: rbd_ros needs Python 3.10 to 3.14.' \
        'On Debian and Ubuntu: sudo apt install python3 python3-venv'
}

# Return whether prepare_environment finds a suitable Python.
has_suitable_python() { (_find_python) >/dev/null 2>&1; }

# A sourced ROS 2 is used if the Python on PATH can import its rclpy; otherwise, or with RBD_ROS_DISTRO, wheels are.
_find_ros() {
    local python="${RBD_ROS_PYTHON:-python3}"
    _ros="${RBD_ROS_ROS:-${RBD_ROS_DISTRO:+wheels}}"
    _distribution="${RBD_ROS_DISTRO:-jazzy}"
    case "$_distribution" in
        jazzy | kilted) ;;
        *) _die "RBD_ROS_DISTRO=$_distribution: it must be 'jazzy' or 'kilted', of which there are wheels." ;;
    esac
    if [ -z "$_ros" ]; then
        _ros='wheels'
        if [ -n "${ROS_DISTRO:-}" ] && "$python" -c 'from rclpy.node import Node' >/dev/null 2>&1; then
            _ros='sourced'
        elif [ -n "${ROS_DISTRO:-}" ]; then
            _say "ROS 2 $ROS_DISTRO is sourced, but $python cannot import its rclpy: using ROS 2 from wheels instead."
        fi
    fi
    case "$_ros" in
        sourced) _ros_extra=''; RBD_ROS_PYTHON="$python" ;;
        wheels)
            _ros_extra='ros'
            [ "$_distribution" = jazzy ] || _ros_extra="ros-$_distribution"
            if [ "$(uname -m)" != x86_64 ]; then
                _ros_extra=''
                _say "There are no ROS 2 wheels for $(uname -m): without a sourced ROS 2 the nodes and their tests are left out."
            fi
            ;;
        *) _die "RBD_ROS_ROS=$_ros: it must be 'wheels' or 'sourced'." ;;
    esac
}

# Key of an up-to-date environment: requirements, Python, kind of ROS, and source tree.
_fingerprint() {
    (
        cd "$RBD_ROS_ROOT" || exit
        cat "${_requirement_files[@]}"
        "$_base_python" -c 'import sys; print(sys.version, sys.base_prefix)'
        printf '%s\n' "$_ros" "$_ros_extra" "${ROS_DISTRO:-}" "$RBD_ROS_ROOT"
    ) | sha256sum | cut -d' ' -f1
}

_is_up_to_date() {
    local level
    for level in "$@"; do
        [ "$(cat "$_venv/.rbd_ros_$level" 2>/dev/null)" = "$_wanted" ] && [ -x "$_venv/bin/python" ] && return 0
    done
    return 1
}

_make_venv() {
    local options=()
    if [ -e "$_venv/.rbd_ros_installing" ]; then
        _say 'The last installation was interrupted: starting afresh.'
        rm -rf "$_venv"
    elif [ -e "$_venv" ] && ! "$_venv/bin/python" -m pip --version >/dev/null 2>&1; then
        if [ -e "$_venv/pyvenv.cfg" ] || [ -z "$(ls -A "$_venv" 2>/dev/null)" ]; then
            _say "The virtual environment $_venv does not work any more: starting afresh."
            rm -rf "$_venv"
        else
            _die "$_venv is there but is no virtual environment. Move it away, or set RBD_ROS_VENV."
        fi
    fi
    [ -e "$_venv" ] && ! _is_python "$_venv/bin/python" 10 99 && _die "$_venv holds no Python >= 3.10. Remove it, or set RBD_ROS_VENV."
    [ -e "$_venv" ] && return
    _say "Making a virtual environment in $_venv from $("$_base_python" --version 2>&1)"
    [ "$_ros" = sourced ] && options=(--system-site-packages)
    "$_base_python" -m venv ${options[@]+"${options[@]}"} "$_venv" || {
        rm -rf "$_venv"
        _die "Cannot make a virtual environment in $_venv." \
            'On Debian and Ubuntu: sudo apt install python3-venv. If the folder is read-only or the disk full: set RBD_ROS_VENV.'
    }
}

# Modules compiled against NumPy 1, such as messages of a sourced ROS 2, do not load with NumPy 2.
_numpy_of_sourced_ros() {
    "$_base_python" -c 'import numpy; print("numpy<2" if numpy.__version__.startswith("1.") else "numpy")' 2>/dev/null || true
}

_pip_install() {
    "$_venv/bin/python" -m pip install --disable-pip-version-check "$@" 2> >(tee "$_log" >&2)
}

# Make setuptools write metadata into the environment, as sources may be read-only.
_spare_sources() {
    mkdir -p "$_venv/.rbd_ros_build"
    printf '[egg_info]\negg_base = %s\n' "$_venv/.rbd_ros_build" > "$_venv/.rbd_ros_build/setup.cfg"
    export DIST_EXTRA_CONFIG="$_venv/.rbd_ros_build/setup.cfg"
}

_install() {
    local extras="$1" constraints=() status=0
    _log="$(mktemp)"
    [ -w "$RBD_ROS_ROOT" ] || _spare_sources
    if [ "$_ros" = sourced ]; then
        _numpy_of_sourced_ros > "$_venv/.rbd_ros_constraints"
        constraints=(-c "$_venv/.rbd_ros_constraints")
    else
        constraints=(-c "$RBD_ROS_ROOT/scripts/constraints.txt" -c "$RBD_ROS_ROOT/scripts/constraints_$_distribution.txt")
    fi
    # Old versions of pip do not terminate on these requirements.
    _pip_install --quiet --upgrade 'pip>=24' || status=$?
    if [ $status -eq 0 ] && [ -z "$_interrupted" ]; then
        (cd "$RBD_ROS_ROOT" && _pip_install "${constraints[@]}" -e ".$extras") || status=$?
    fi
    if [ $status -ne 0 ] && [ -z "$_interrupted" ] && [ "$_ros" = wheels ] && ! _was_network \
            && grep -qE 'No matching distribution|ResolutionImpossible|conflict' "$_log"; then
        _say 'The versions that are known to work together are not all to be had here: trying the newest ones.'
        status=0
        (cd "$RBD_ROS_ROOT" && _pip_install -e ".$extras") || status=$?
    fi
    if [ $status -ne 0 ]; then
        _was_network && _explanation='The package index cannot be reached: is there a network, and do https_proxy and pip.conf suit it?' \
            || _explanation='pip says above what went wrong.'
        rm -f "$_log"
        return 1
    fi
    rm -f "$_log"
}

_was_network() {
    grep -qiE 'NewConnectionError|NameResolutionError|name resolution|ProxyError|SSLError|ConnectTimeout|ReadTimeout|Connection (broken|refused|reset)' "$_log"
}

# With wheels: remove a ROS for another Python and other environments' wheels from the variables, for pip and for us.
_leave_other_environments() {
    unset PYTHONHOME
    if [ "$_ros" = wheels ]; then
        unset AMENT_PREFIX_PATH COLCON_PREFIX_PATH ROS_DISTRO ROS_VERSION _ROS_WHEELS_BOOTSTRAP_COMPLETE
        unset LD_LIBRARY_PATH PYTHONPATH
    fi
}

# Environment variables of all our processes.
_enter_environment() {
    PYTHON="$_venv/bin/python"
    export PYTHONPATH="$RBD_ROS_ROOT${PYTHONPATH:+:$PYTHONPATH}"
    export PATH="$_venv/bin:$PATH" VIRTUAL_ENV="$_venv" PYTHON
    # rclpy does not start if it cannot write its log.
    if [ -z "${ROS_LOG_DIR:-}" ] && [ -z "${ROS_HOME:-}" ] && ! mkdir -p "${HOME:-/nonexistent}/.ros/log" 2>/dev/null; then
        ROS_LOG_DIR="${TMPDIR:-/tmp}/rbd_ros-log-$(id -u)"
        export ROS_LOG_DIR
    fi
}

prepare_environment() {
    local level="$1" extras size _venv _base_python _ros _ros_extra _distribution _wanted _log _explanation _interrupted='' _failed=''
    case "$level" in
        run) extras='' ;;
        test) extras='test' ;;
        *) _die "prepare_environment: 'run' or 'test', not '$level'" ;;
    esac
    _find_ros
    _find_python
    if [ -n "${RBD_ROS_VENV:-}" ]; then
        _venv="$(realpath -m "$RBD_ROS_VENV")"
    elif [ "$_ros" = sourced ]; then
        _venv="$RBD_ROS_ROOT/.venv-${ROS_DISTRO:-ros}"
    elif [ "$_distribution" != jazzy ]; then
        _venv="$RBD_ROS_ROOT/.venv-wheels-$_distribution"
    else
        _venv="$RBD_ROS_ROOT/.venv"
    fi
    _leave_other_environments
    _wanted="$(_fingerprint)"
    if ! _is_up_to_date "$level" test; then
        # One set-up at a time, as demo and tests may be started together.
        if command -v flock >/dev/null 2>&1; then
            mkdir -p "$(dirname "$_venv")" 2>/dev/null
            exec {_lock}> "$_venv.lock" || _die "Cannot write next to $_venv. Set RBD_ROS_VENV to a place that can be written."
            flock -n "$_lock" || { _say 'Another set-up is at work here: waiting for it.'; flock "$_lock"; }
        fi
        if ! _is_up_to_date "$level" test; then
            _make_venv
            extras="$(printf '%s\n' "$_ros_extra" "$extras" | sed '/^$/d' | paste -sd,)"
            # Disk space of the packages on Linux with Python 3.11, without the cache of pip.
            case "$level" in run) size='0.7 GB' ;; *) size='2.6 GB' ;; esac
            _say "Installing what is needed${extras:+ (with $extras)}: about $size on disk, some minutes, this once."
            rm -f "$_venv"/.rbd_ros_run "$_venv"/.rbd_ros_test
            : > "$_venv/.rbd_ros_installing"
            trap '_interrupted=1' INT
            _install "${extras:+[$extras]}" || _failed=1
            trap - INT
            # An incomplete environment of pip is invalid: the mark stays.
            [ -z "$_interrupted" ] || _die 'Interrupted. Running the same command again starts afresh.'
            if [ -n "$_failed" ]; then
                rm -f "$_venv/.rbd_ros_installing"
                _die 'The installation failed.' "$_explanation" 'Running the same command again is safe.'
            fi
            rm -f "$_venv/.rbd_ros_installing"
            printf '%s\n' "$_wanted" > "$_venv/.rbd_ros_$level"
            _say 'Ready.'
        fi
        [ -z "${_lock:-}" ] || exec {_lock}>&-
    fi
    _enter_environment
}
