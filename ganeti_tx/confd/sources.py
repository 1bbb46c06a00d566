"""The files that a configuration daemon lives on: the configuration and the key, with those that are accepted besides."""

from collections.abc import Callable

from attrs import define
from twisted.logger import Logger

from ganeti_tx.confd.answers import Answers, IAnswers, NoAnswers
from ganeti_tx.confd.codec import Key
from ganeti_tx.confd.protocol import Present
from ganeti_tx.confd.view import view_of
from ganeti_tx.confd.watched_file import Gone, WatchedFile
from ganeti_tx.errors import ConfigurationError
from ganeti_tx.model import confd_keys
from ganeti_tx.model.config_data import MAX_CONFIG_BYTES, decode
from ganeti_tx.runtime.files import IFiles
from ganeti_tx.runtime.membership import not_in_cluster
from ganeti_tx.runtime.paths import Paths

log = Logger()

MAX_KEY_BYTES = 64 * 1024
NO_CANDIDATE = "the node that was asked is not a master candidate"
UNREADABLE = "this node cannot read its copy of the configuration; its log says why"


@define
class Sources:
    """Where they are, and what was last read of them."""

    config: WatchedFile[IAnswers]
    key: WatchedFile[Key]
    others: WatchedFile[tuple[Key, ...]]

    def first(self) -> Present:
        """What to begin with; a configuration that cannot be read, or is not there, may get better. Blocks.

        @raise ConfigurationError: there is no key.
        """
        return Present(self._first_key(), self._first_answers(), self._first_others())

    def _first_others(self) -> tuple[Key, ...]:
        try:
            return self.newer_others() or ()
        except ConfigurationError as error:
            log.error("no key is accepted but the cluster's: {error}", error=str(error))
            return ()

    def newer_others(self) -> tuple[Key, ...] | None:
        """The keys that are accepted besides, if they are new; mostly there is no such file. Blocks.

        @raise ConfigurationError: the file cannot be read; once, until it changes.
        """
        try:
            return self.others.newer()
        except Gone:
            return ()

    def _first_key(self) -> Key:
        try:
            key = self.key.newer()
        except Gone:
            raise not_in_cluster(self.key.path) from None
        assert key is not None, "it was read before"
        return key

    def _first_answers(self) -> IAnswers:
        try:
            answers = self.config.newer()
        except Gone as error:
            log.info(
                "{error}: requests are answered with errors until this node is a master candidate", error=str(error)
            )
            return NoAnswers(NO_CANDIDATE)
        except ConfigurationError as error:
            log.error("requests are answered with errors: {error}", error=str(error))
            return NoAnswers(UNREADABLE)
        assert answers is not None, "it was read before"
        return answers


def sources_of(files: IFiles, paths: Paths, answers: Callable[[bytes], IAnswers]) -> Sources:
    """A node's. @param answers: makes answers of a configuration in JSON: `answers_of` or the like."""
    return Sources(
        WatchedFile(files, paths.config_file, MAX_CONFIG_BYTES, answers),
        WatchedFile(files, paths.hmac_key, MAX_KEY_BYTES, Key),
        WatchedFile(files, paths.confd_keys, MAX_KEY_BYTES, keys_of),
    )


def keys_of(data: bytes) -> tuple[Key, ...]:
    """Those that a file lists. @raise ConfigurationError: it is no such file."""
    try:
        return tuple(map(Key, confd_keys.decode(data)))
    except ValueError as error:
        raise ConfigurationError(str(error)) from None


def answers_of(data: bytes) -> IAnswers:
    """What a configuration in JSON answers. @raise ConfigurationError: it is none."""
    return Answers(view_of(decode(data)))
