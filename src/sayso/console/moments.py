"""Times as people read them: this machine's wall clock, and how long until then."""

from datetime import datetime

from markupsafe import Markup

_TIME = Markup('<time datetime="{}">{}</time>')


def moment(at: float, now: float) -> Markup:
    """A time in Unix seconds as a `time` element; with its date when that is not today's."""
    then = datetime.fromtimestamp(at).astimezone()
    today = datetime.fromtimestamp(now).astimezone()
    shown = f"{then:%H:%M:%S}"
    if then.date() != today.date():
        shown = f"{then:%Y-%m-%d} {shown}"
    return _TIME.format(then.isoformat(timespec="seconds"), shown)


def lasting(seconds: float) -> str:
    """How long something lasts, in the words that the script uses too.

    >>> lasting(862), lasting(59.5), lasting(-3)
    ('14 min 22 s', '59 s', '0 s')
    """
    minutes, rest = divmod(max(0, int(seconds)), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def roughly(seconds: float) -> str:
    """A length of time in whole minutes, or in seconds where it is short.

    >>> roughly(300), roughly(90), roughly(1)
    ('5 minutes', '90 seconds', '1 second')
    """
    minutes, rest = divmod(round(seconds), 60)
    number, unit = round(seconds), "second"
    if minutes and not rest:
        number, unit = minutes, "minute"
    return f"{number} {unit}{'s' * (number != 1)}"
