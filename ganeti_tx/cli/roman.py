"""Small numbers in Roman, for --roman."""

_DIGITS = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
_LIMIT = 4000


def roman(value: object) -> str:
    """An integer from 1 to 3999 in Roman; anything else as it is."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < _LIMIT:
        return str(value)
    text, left = "", value
    for worth, digit in _DIGITS:
        count, left = divmod(left, worth)
        text += digit * count
    return text
