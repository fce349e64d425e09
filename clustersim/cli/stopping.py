"""What stops a command before its end: Ctrl-C, and the signals of batch systems and of terminals that are closed."""

import signal
import threading
from collections.abc import Iterator
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


def interrupt(by: signal.Signals) -> KeyboardInterrupt:
    """What a signal raises."""
    return KeyboardInterrupt() if by is signal.SIGINT else KeyboardInterrupt(by.name)


def stopped_by(error: KeyboardInterrupt) -> str:
    """The words for what stopped a command."""
    return f"stopped by {error.args[0] if error.args else 'Ctrl-C'}"


@contextmanager
def stopped_by_signals() -> Iterator[list[signal.Signals]]:
    """Meanwhile SIGTERM and SIGHUP do what Ctrl-C does; yields what will hold the signals that came.

    Whoever made the process deaf to one of them, as nohup does, keeps it so.
    """
    heard: list[signal.Signals] = []
    before = {}
    if threading.current_thread() is threading.main_thread():  # signals cannot be set elsewhere
        before = {each: usual for each, usual in _USUAL.items() if signal.getsignal(each) == usual}

    def hear(number: int, frame: FrameType | None) -> None:
        heard.append(signal.Signals(number))
        raise interrupt(heard[0])

    for each in before:
        signal.signal(each, hear)
    try:
        yield heard
    finally:
        for each, usual in before.items():
            signal.signal(each, usual)
