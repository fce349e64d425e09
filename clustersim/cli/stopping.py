"""What stops a command before its end: Ctrl-C, and the signals of batch systems and of terminals that are closed."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

# What a signal does where nobody has said otherwise; of those that there are on this system.
_USUAL = {
    signal.Signals[name]: usual
    for name, usual in (
        ("SIGINT", signal.default_int_handler),
        ("SIGTERM", signal.SIG_DFL),
        ("SIGHUP", signal.SIG_DFL),
    )
    if hasattr(signal, name)
}
# So long after Python has swallowed what a signal raised, the signal comes again.
_AGAIN_S = 0.02


def interrupt(by: signal.Signals) -> KeyboardInterrupt:
    """What a signal raises."""
    return KeyboardInterrupt() if by is signal.SIGINT else KeyboardInterrupt(by.name)


def stopped_by(error: KeyboardInterrupt) -> str:
    """The words for what stopped a command."""
    return f"stopped by {error.args[0] if error.args else 'Ctrl-C'}"


@contextmanager
def stopped_by_signals(for_good: bool) -> Iterator[list[signal.Signals]]:
    """Meanwhile SIGTERM and SIGHUP do what Ctrl-C does; yields what will hold the signals that came.

    Whoever made the process deaf to one of them, as nohup does, keeps it so. `for_good` says that the process ends with
    what is done meanwhile: its end is left in peace, also by a second Ctrl-C.
    """
    heard: list[signal.Signals] = []
    if threading.current_thread() is not threading.main_thread():  # signals cannot be set elsewhere
        yield heard
        return
    before = {each: usual for each, usual in _USUAL.items() if signal.getsignal(each) == usual}
    under_way = True

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(signal.Signals(number))
        if under_way:
            raise interrupt(heard[0])

    for each in before:
        signal.signal(each, hear)
    try:
        with _none_swallowed(heard):
            try:
                yield heard
            finally:
                under_way = False
    finally:
        for each, usual in before.items():
            signal.signal(each, signal.SIG_IGN if for_good else usual)


@contextmanager
def _none_swallowed(heard: Sequence[signal.Signals]) -> Iterator[None]:
    """Meanwhile a signal comes again if it came where nothing can be raised: in a weak reference's callback, say.

    Python tells its hook of what it swallows there, and goes on.
    """
    told_before, again = sys.unraisablehook, []

    def tell(swallowed: "sys.UnraisableHookArgs") -> None:
        if not (heard and isinstance(swallowed.exc_value, KeyboardInterrupt)):
            told_before(swallowed)
            return
        again.append(threading.Timer(_AGAIN_S, signal.pthread_kill, (threading.main_thread().ident, heard[0])))
        again[-1].start()

    sys.unraisablehook = tell
    try:
        yield
    finally:
        sys.unraisablehook = told_before
        for timer in again:
            timer.cancel()
            timer.join()
